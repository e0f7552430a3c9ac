"""Text of the transcript, laid out: Markdown, code and cards as rows of spans.

Pure functions and data that know cells but no colours and no widgets. Not here: painting (widgets).
"""
