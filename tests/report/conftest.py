"""Made-up runs, and a site of the real reference results, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import api
from harness.base.layout import Layout
from tests.evidence import evidence, fabricated, made_up
from tests.report.devtools import Tab, opened

__all__ = ["evidence", "fabricated", "made_up"]


@pytest.fixture(scope="session")
def site(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site: the smoke suite, and all reference results, claims, studies and findings."""
    folder = tmp_path_factory.mktemp("published")
    here = api.Repository(Layout(repository.root, repository.cache, folder / "local"))
    table = api.status(api.plan(suite="smoke", repository=here), reference=True, repository=here)
    return api.site(table, folder / "site", repository=here).parent


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A page in a real browser."""
    with opened(tmp_path_factory.mktemp("profile")) as one:
        yield one
