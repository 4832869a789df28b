"""The interactive door: a Jupyter kernel inside a method's frozen image, with a job loaded as runs get it."""

from __future__ import annotations

from harness.notebook.connection import Connection, new_connection, read_connection, register
from harness.notebook.image import NotebookImage, ensure_notebook_image
from harness.notebook.kernel import Opened, last_words, open_kernel, pin

__all__ = [
    "Connection",
    "NotebookImage",
    "Opened",
    "ensure_notebook_image",
    "last_words",
    "new_connection",
    "open_kernel",
    "pin",
    "read_connection",
    "register",
]
