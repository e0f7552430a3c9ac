"""The doctor: what is well and what is not, about hel itself and about each server, with what helps.

Findings are facts with a sentence; nothing here changes anything but the process it starts for looking.
"""
