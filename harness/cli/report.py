"""`harness report`: the status page as one self-contained HTML file, or a static site, written or verified."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import api
from harness.api.repository import without_own_runs
from harness.base.errors import AuditError
from harness.base.foreign_text import printable
from harness.base.plurals import counted, form_of
from harness.cli.names import STORED_SUITE
from harness.cli.options import (
    NEW_FOLDER,
    OnceCommand,
    echo_json,
    json_option,
    mirror_option,
    published_seeds_option,
    reference_option,
    without_garbage,
)
from harness.cli.output import output_option

if TYPE_CHECKING:
    from harness.status import Table

# So many files that differ are shown.
_MOST = 10


@click.command(cls=OnceCommand)
@click.option(
    "--suite",
    type=STORED_SUITE,
    help="Which plan; 'stored': all that was ever run here. By default smoke, and with --site the reference "
    "results of the whole plan.",
)
@published_seeds_option
@output_option(".html", help="Write to this new .html file; by default results/local/report.html is written anew.")
@click.option(
    "--site",
    type=NEW_FOLDER,
    help="Write a static site into this folder: a page per method, dataset, table and finding.",
)
@click.option(
    "--verify",
    "given",
    type=click.Path(exists=True, path_type=Path),
    metavar="PAGE|SITE",
    help="Make this page or site once more and compare, byte for byte: is it what the results here give?",
)
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@reference_option
@mirror_option
@json_option
def command(
    suite: str | None,
    published_seeds: int | None,
    output: Path | None,
    site: Path | None,
    given: Path | None,
    show: bool,
    reference: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Write the status page: matrix, cells with their evidence, claims, method cards. Needs no network.

    \b
    harness report --suite full --reference   one page
    harness report --site DIR                 the reference results as a site, to be published as it is
    harness report --site DIR --suite smoke   what was run here
    harness report --verify DIR               whether a site is what the results here give
    harness report --verify page.html         the same of a page, which tells the suite that it is of

    Exit code 5 if what is verified differs.
    """
    if (site or given) and output:
        raise click.UsageError(f"{'--site' if site else '--verify'} and --output exclude each other")
    if given and (site or show):
        raise click.UsageError(f"--verify and {'--site' if site else '--open'} exclude each other")
    mine = api.open_repository(mirrors=mirrors)
    if given and not (given.is_dir() or suite or published_seeds or reference):
        with without_garbage():
            return _verify(given, None, mine, as_json=as_json)
    is_site = site is not None or (given is not None and given.is_dir())
    is_published = is_site and suite is None
    reference = reference or is_published
    if suite is None:
        suite = "full" if is_site else "smoke"
    # what was run here is nobody's but this person's
    alone = without_own_runs(mine) if is_published else nullcontext(mine)
    with without_garbage(), alone as repository:
        # a run made here has its split here, and those of committed results are recorded: none is made to look
        plan = api.plan(suite=suite, published_seeds=published_seeds, make_splits=False, repository=repository)
        table = api.status(plan, reference=reference, repository=repository)
        if given:
            return _verify(given, table, repository, as_json=as_json)
        path, size = _write(table, output, site, repository)
    if as_json:
        echo_json({"file": str(path), "bytes": size, "site": site is not None})
    else:
        click.echo(f"{'site' if site else 'report'}: {path} ({size / 1e6:.1f} MB)")
    if show:
        click.launch(path.absolute().as_uri())
    return 0


def _write(table: Table, output: Path | None, site: Path | None, repository: api.Repository) -> tuple[Path, int]:
    """The path of the page, or of the site's index, and the bytes of all that was written."""
    if site:
        path = api.site(table, site, repository=repository)
        return path, sum(one.stat().st_size for one in path.parent.rglob("*") if one.is_file())
    path = api.report(table, output, repository=repository)
    return path, path.stat().st_size


def _verify(path: Path, table: Table | None, repository: api.Repository, *, as_json: bool) -> int:
    verification = api.verify_report(path, table, repository=repository)
    differences = verification.differences
    if as_json:
        echo_json({"verified": str(path), **asdict(verification)})
    elif differences:
        of, differ = counted(verification.files, "file"), form_of("differs", len(differences), "differ")
        click.echo(f"{path} is not what these results give: of {of}, {len(differences):,} {differ}")
        for one in differences[:_MOST]:
            click.echo(f"  {printable(one.file)}{f':{one.line}' if one.line else ''}: {one.what}")
            if one.line:
                click.echo(f"    there: {printable(one.found)}\n    here:  {printable(one.expected)}")
        if (left := len(differences) - _MOST) > 0:
            click.echo(f"  and {counted(left, 'file')} more (--json lists all)")
        click.echo("  to do: compare in the commit that it is of, a site with the same --suite and --reference")
    else:
        click.echo(f"verified: {path} is what these results give, {counted(verification.files, 'file')}")
        for name, text in verification.audits.items():
            click.echo(f"  as told there, and by nothing here: {name}: {printable(text)}")
    return AuditError.exit_code if differences else 0
