"""The page of made-up runs, a site of the real reference results, and a browser, for the tests of this folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import api
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.report import write_report
from harness.report.site import write_site
from tests.evidence import copy_of
from tests.fabricate import table_of
from tests.report.devtools import Tab, opened
from tests.report.made_up import facts, report

__all__ = ["facts", "page", "report", "shown", "site", "tab"]


@pytest.fixture(scope="session")
def site(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site: the smoke suite, and all reference results, claims, studies and findings."""
    folder = tmp_path_factory.mktemp("published")
    here = api.Repository(Layout(repository.root, repository.cache, folder / "local"))
    table = api.status(api.plan(suite="smoke", repository=here), reference=True, repository=here)
    return api.site(table, folder / "site", repository=here).parent


@pytest.fixture(scope="session")
def shown(fabricated: Layout, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """A copy of the made-up runs, for pages that tests look at. Not to be changed."""
    return copy_of(fabricated, tmp_path_factory.mktemp("shown") / "copy")


@pytest.fixture(scope="session")
def whole(shown: Layout, made_up: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the made-up runs. Not to be changed."""
    return write_site(shown, table_of(shown, made_up), tmp_path_factory.mktemp("whole") / "own").parent


@pytest.fixture
def own(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, which is a site of the harness's own as well."""
    return Path(shutil.copytree(whole, tmp_path / "own"))


@pytest.fixture(scope="session")
def page(shown: Layout, made_up: Plan) -> Path:
    """The page of the made-up runs. Not to be changed."""
    return write_report(shown, table_of(shown, made_up))


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A page in a real browser."""
    with opened(tmp_path_factory.mktemp("profile")) as one:
        yield one
