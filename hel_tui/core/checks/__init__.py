"""Saved calls with what is expected of them: reading and writing the files, comparing, running."""
