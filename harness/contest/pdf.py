"""Drawings as PDF: the marks of harness.study.svg on one page, text in Helvetica, which every reader has."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pydyf

# Thousandths of the font's size from the space to the tilde, as Adobe publishes them of Helvetica.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556),
    *(1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778),
    *(667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556),
    *(333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556),
    *(556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584),
)
_OTHERS = 556
# What Windows' Latin alphabet, the encoding of the page's texts, has no sign for becomes a question mark.
_ENCODING = "cp1252"


@dataclass(frozen=True)
class Style:
    """How a mark looks: width of its line or size of its text, and its grey, 0 for black."""

    size: float
    grey: float = 0.0
    bold: bool = False


def text_width(text: str, size: float) -> float:
    """How wide a text is."""
    places = [ord(sign) - 32 for sign in text]
    return sum(_WIDTHS[one] if 0 <= one < len(_WIDTHS) else _OTHERS for one in places) * size / 1000


@dataclass
class PdfDrawing:
    """Marks in the order in which they are painted, from the upper left corner; `content` is the whole file."""

    width: float
    height: float
    title: str
    styles: dict[str, Style]
    _stream: pydyf.Stream = field(default_factory=pydyf.Stream)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        look = self._look(style, stroke=True)
        self._stream.set_line_width(look.size)
        self._stream.move_to(_number(x1), _number(self.height - y1))
        self._stream.line_to(_number(x2), _number(self.height - y2))
        self._stream.stroke()

    def dot(self, x: float, y: float, style: str) -> None:
        """Draw a small circle: a line without length whose ends are round."""
        look = self._look(style, stroke=True)
        self._stream.push_state()
        self._stream.set_line_cap(1)
        self._stream.set_line_width(look.size)
        self._stream.move_to(_number(x), _number(self.height - y))
        self._stream.line_to(_number(x), _number(self.height - y))
        self._stream.stroke()
        self._stream.pop_state()

    def write(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write text with its base line at y."""
        look = self._look(style, stroke=False)
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * text_width(text, look.size)
        self._stream.begin_text()
        self._stream.set_font_size("Bold" if look.bold else "Plain", look.size)
        self._stream.set_text_matrix(1, 0, 0, 1, _number(x - shift), _number(self.height - y))
        self._stream.show_text_string(text.encode(_ENCODING, errors="replace"))
        self._stream.end_text()

    def _look(self, style: str, *, stroke: bool) -> Style:
        look = self.styles[style]
        self._stream.set_color_rgb(look.grey, look.grey, look.grey, stroke=stroke)
        return look

    @property
    def content(self) -> bytes:
        """The file; equal drawings give equal bytes."""
        document = pydyf.PDF()
        document.info["Title"] = pydyf.String(self.title)
        document.add_object(self._stream)
        fonts = {name: _font(base) for name, base in (("Plain", "Helvetica"), ("Bold", "Helvetica-Bold"))}
        page = {
            "Type": "/Page",
            "Parent": document.pages.reference,
            "MediaBox": pydyf.Array([0, 0, _number(self.width), _number(self.height)]),
            "Contents": self._stream.reference,
            "Resources": pydyf.Dictionary({"Font": pydyf.Dictionary(fonts)}),
        }
        document.add_page(pydyf.Dictionary(page))
        stream = io.BytesIO()
        document.write(stream)
        return stream.getvalue()


def _font(base: str) -> pydyf.Dictionary:
    return pydyf.Dictionary(
        {"Type": "/Font", "Subtype": "/Type1", "BaseFont": f"/{base}", "Encoding": "/WinAnsiEncoding"}
    )


def _number(value: float) -> float:
    return round(value, 2)
