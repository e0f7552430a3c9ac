"""Dialogs: questions of the core, asked of the person."""
