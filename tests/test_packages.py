"""The import contracts only see packages: a folder of modules without `__init__.py` would escape them."""

from pathlib import Path

import hel_tui

ROOT = Path(hel_tui.__file__).parent


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {
        file.parent
        for file in ROOT.rglob("*.py")
        if not {"samples", "project"} & {*file.relative_to(ROOT).parts}
    }
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []
