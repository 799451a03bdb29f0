"""Pages of HTML, parsed for tests."""

from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "img", "input"}


class Parsed(HTMLParser):
    """A page as its tags, headings, tables and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag in ("h1", "h2", "h3", "h4"):
            self.headings.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """It ends what was begun last."""
        assert self._open.pop() == tag
        self.text += " " * (tag in ("td", "th", "dt", "dd"))

    def handle_data(self, data: str) -> None:
        """Text of the page, of a heading, of a cell."""
        if "script" in self._open or "style" in self._open:
            return
        self.text += data
        if self._open and self._open[-1] in ("h1", "h2", "h3", "h4"):
            self.headings[-1] += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def row(self, *start: str) -> list[str]:
        """The one row that starts with these cells."""
        (found,) = [r for r in self.rows if r[: len(start)] == list(start)]
        return [*found]

    @property
    def links(self) -> list[str]:
        """What the page refers to."""
        return [attrs[name] or "" for _, attrs in self.tags for name in ("href", "src") if name in attrs]

    @property
    def elements(self) -> list[str]:
        """The names of its elements."""
        return [tag for tag, _ in self.tags]
