"""Ten lines of Textual, with a header and a place to type: what any such app costs."""

from textual.app import App, ComposeResult
from textual.widgets import Header, TextArea


class Tiny(App[None]):
    TITLE = "ready"

    def compose(self) -> ComposeResult:
        yield Header()
        yield TextArea()


if __name__ == "__main__":
    Tiny().run()
