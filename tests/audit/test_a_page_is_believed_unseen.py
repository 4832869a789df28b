"""The status page is the one that this user's harness wrote, or the audit says that it is another."""

from __future__ import annotations

import json

import pytest

from harness.api.pages import remember
from harness.audit import Lack, check_page
from harness.audit.steps import Checked
from harness.base.files import sha256_of, write_json
from harness.base.layout import Layout

AGAIN = "make it again: harness report"


@pytest.fixture
def written(layout: Layout) -> Layout:
    """A page, noted as the harness notes it."""
    layout.page.parent.mkdir(parents=True, exist_ok=True)
    layout.page.write_text("<p>als_wr 0.9")
    remember(layout, "1" * 64)
    return layout


def test_the_page_as_the_harness_wrote_it_passes(written: Layout) -> None:
    """However often it is looked at."""
    for _ in range(2):
        (step,) = check_page(written)
        assert (step.name, step.checked, step.what) == ("page", Checked.OK, "it is as the harness wrote it")


def test_a_better_number_on_the_page_is_a_broken_link(written: Layout) -> None:
    written.page.write_text("<p>als_wr 0.99")
    (step,) = check_page(written)
    assert (step.name, step.checked, step.where) == ("page", Checked.FAILED, str(written.page))
    assert step.what == f"it was changed after it was made; {AGAIN}"


@pytest.mark.parametrize("note", ["gone", "no object", "rewritten", "unsealed"])
def test_a_page_that_nobody_vouches_for_is_not_called_ok(written: Layout, note: str) -> None:
    content = json.loads(written.page_note.read_text())
    written.page.write_text("<p>als_wr 0.99")
    if note == "gone":
        written.page_note.unlink()
    elif note == "no object":
        written.page_note.write_text("[]")
    else:
        content["page"] = sha256_of(written.page)
        if note == "unsealed":
            del content["seal"]
        write_json(written.page_note, content)
    (step,) = check_page(written)
    said = f"no harness of this user vouches for {written.page.name}; {AGAIN}"
    assert (step.name, step.checked, step.what, step.lack) == ("page", Checked.NOT_CHECKED, said, Lack.OTHER)


def test_without_a_page_there_is_nothing_to_check(written: Layout) -> None:
    written.page.unlink()
    assert check_page(written) == []
