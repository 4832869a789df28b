"""Builds the site: sources first, in the harness's environment; then Sphinx, in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.base.errors import HarnessError, UsageError
from harness.base.files import folder_in_the_making
from harness.base.layout import Layout
from scripts.site.reference import write_reference
from scripts.site.sources import branch, contents, write_pages
from scripts.site.studies import write_studies
from scripts.tools import programs_of

_HERE = Path(__file__).resolve().parent
# what Sphinx leaves in each folder that it builds
_MARK = ".buildinfo"


def build_site(layout: Layout, folder: Path) -> Path:
    """Put the whole site into the folder, or leave it as it was; the path of its first page is returned."""
    # a link stays, and where it leads is written
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise UsageError(
            "the folder holds something else than such a site", where=str(folder), todo="name a new folder"
        )
    programs = site_programs(layout)
    with tempfile.TemporaryDirectory(prefix="permafrost-site-") as place, folder_in_the_making(folder) as making:
        write_sources(layout, Path(place))
        render(programs, Path(place), making)
        if folder.exists():
            shutil.rmtree(folder)
    return folder / "index.html"


def site_programs(layout: Layout) -> Path:
    """The folder of Sphinx's programs."""
    return programs_of(layout.root / "requirements" / "docs.lock", layout.cache / "docs")


def write_sources(layout: Layout, folder: Path) -> None:
    """Write all that Sphinx reads."""
    write_pages(layout.root, folder)
    side_bar = contents(layout.root)
    side_bar += branch("The studies, from committed results", write_studies(layout, folder))
    side_bar += branch("Reference, generated from the code", write_reference(layout, folder))
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write(side_bar)
    shutil.copyfile(_HERE / "conf.py", folder / "conf.py")
    shutil.copyfile(_HERE / "site.css", folder / "site.css")


def render(programs: Path, sources: Path, folder: Path) -> None:
    """Make pages of sources. Whatever Sphinx warns of is an error, such as a link that leads nowhere."""
    # not below the site: it is of no use to a reader
    with tempfile.TemporaryDirectory(prefix="permafrost-site-") as notes:
        words = [programs / "sphinx-build", "-q", "-W", "--keep-going", "--no-color", "-d", notes, sources, folder]
        # Python's own variables lead to the harness's modules
        environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        warnings = done.stderr.strip().replace(f"{sources}/", "")
        raise HarnessError("the site could not be built", where=warnings, todo="mend these pages")
