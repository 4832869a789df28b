"""`python -m scripts.site DIR`: the documentation as a site, in a folder of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.base.errors import HarnessError
from harness.base.layout import find_layout
from scripts.site.build import build_site


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Build the documentation into FOLDER, which is new, empty, or such a site."""
    try:
        index = build_site(find_layout(), folder)
    except HarnessError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    click.echo(f"written: {index}")


if __name__ == "__main__":
    command()
