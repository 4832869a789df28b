"""Keys as handles: the run that a key begins, all that is known of it, how two differ, and forgetting it."""

from harness.handles.difference import Difference, differences_of
from harness.handles.lookup import Handle, find_handle
from harness.handles.page import page_of, page_text
from harness.handles.publication import PublishedLines, metric_lines, published_beside
from harness.handles.removal import Forgotten, forget, runs_to_forget

__all__ = [
    "Difference",
    "Forgotten",
    "Handle",
    "PublishedLines",
    "differences_of",
    "find_handle",
    "forget",
    "metric_lines",
    "page_of",
    "page_text",
    "published_beside",
    "runs_to_forget",
]
