"""Values a person keeps in the system's keyring instead of in a file.

Asking may block while the keyring is unlocked: call it outside the loop. Not here: finding secrets in
text (redact).
"""

from __future__ import annotations

SERVICE = "hel"
"""The keyring service under which hel's values are kept: `keyring set hel NAME`."""


def keyring_value(name: str) -> str | None:
    """Return the value kept under `name`, or None when there is none or no keyring can be used."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, name)
    except (KeyringError, OSError, RuntimeError):
        return None
