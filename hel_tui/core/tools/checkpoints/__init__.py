"""The old state of files that hel's tools change, kept so that a person can have it back turn by turn."""
