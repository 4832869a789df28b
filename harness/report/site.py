"""A report as a static site: an index with a search, and a page per method, dataset, table of claims and finding.

It works from a folder as from a server, without network. It is written beside its place and put there whole; equal
results give equal bytes. A folder that holds anything but such a site is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.base.files import digest_of, folder_in_the_making, read_json, sha256_of
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, Comparison
from harness.compare.book import group_of
from harness.data import load_manifest
from harness.methods.card import load_method
from harness.report.evidence import LOG, File
from harness.report.html import (
    Report,
    books_for,
    claim_json,
    context_of,
    make_report,
    matrix_of,
    page_environment,
)
from harness.results.findings import Finding
from harness.results.reference import load_reference
from harness.results.store import Store
from harness.splits.checksums import recorded_path, recorded_splits
from harness.status import Group, ScoredCell, Table, known_sets
from harness.study.sheets import Sheet, heading

_LISTING = "site.json"
_DECIDED = (ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED)
_TAIL = 4000


def write_site(layout: Layout, table: Table, folder: Path, *, mirrors: Sequence[Path] = ()) -> Path:
    """Write the site of one table, whole or not at all; the path of its index is returned."""
    folder = folder.absolute()
    refuse_other_content(folder)
    store = Store(layout.runs)
    books = books_for(layout, store, table, mirrors)
    # where reference results are shown, all of them are
    more = load_reference(layout) if any(scored.reference for scored in table.cells) else ()
    report = make_report(layout, store, table, books, mirrors, more)
    earlier = folder.with_name(f".{folder.name}.earlier")
    try:
        with folder_in_the_making(folder) as making:
            _fill(making, _Site(report).files())
            if folder.exists():
                shutil.rmtree(earlier, ignore_errors=True)
                folder.rename(earlier)
    except OSError:
        if earlier.exists() and not folder.exists():
            earlier.rename(folder)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
    return folder / "index.html"


def refuse_other_content(folder: Path) -> None:
    """Raise `UsageError` where the folder holds anything that `write_site` has not written."""
    if not folder.exists():
        return
    listing = read_json(folder / _LISTING) if folder.is_dir() else None
    files = listing.get("files") if isinstance(listing, dict) else None
    own = {_LISTING, *files} if isinstance(files, dict) else set()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()]
    other = [path for path in paths if path.relative_to(folder).as_posix() not in own]
    if not folder.is_dir() or other:
        raise UsageError(
            "this is not a site of an earlier `harness report --site`, and is left as it is",
            where=str(other[0] if other else folder),
            todo="name another folder, or empty this one",
        )


def _fill(folder: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """Write the files, and the list of them with their sha256."""
    listing = {}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        listing[name] = hashlib.sha256(content).hexdigest()
    text = json.dumps({"files": dict(sorted(listing.items()))}, indent=1)
    (folder / _LISTING).write_text(text + "\n", encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def slug(*words: str) -> str:
    """A name for a file, which says the words as far as a file's name can."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


@dataclass
class _Numbers:
    """Where the runs of a page's numbers stand: on the page of their method, or in a list at the page's end."""

    site: _Site
    lists: dict[tuple[str, ...], tuple[str, list[tuple[str, str, int]]]] = field(default_factory=dict)

    def href(self, keys: Sequence[str]) -> str:
        groups = self.site.report.evidence.groups_of(keys)
        if not groups:
            return ""
        if len(groups) == 1:
            place = f"run-{keys[0][:12]}" if len(keys) == 1 else self.site.anchor(groups[0])
            return f"../methods/{groups[0].method}.html#{place}"
        anchors = tuple(self.site.anchor(group) for group in groups)
        if anchors not in self.lists:
            runs = Counter(id(self.site.report.evidence.group_of[key]) for key in keys if key in self.site.keys)
            own = [
                (f"{one.row} on {one.dataset}, {one.split}", f"../methods/{one.method}.html#{at}", runs[id(one)])
                for one, at in zip(groups, anchors, strict=True)
            ]
            self.lists[anchors] = (f"rests-{len(self.lists) + 1}", own)
        return f"#{self.lists[anchors][0]}"

    def rests(self) -> list[tuple[str, list[tuple[str, str, int]]]]:
        return list(self.lists.values())


@dataclass
class _Site:
    """All pages of one report, by path."""

    report: Report
    copies: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def context(self) -> dict[str, Any]:
        """What all pages are told."""
        return context_of(self.report)

    @cached_property
    def environment(self) -> Any:
        """The templates."""
        return page_environment()

    @property
    def keys(self) -> Collection[str]:
        """The keys of all runs."""
        return self.report.evidence.runs

    @cached_property
    def methods(self) -> dict[str, list[Group]]:
        """The groups of every method in the table or with runs, by name."""
        return self._groups_by(lambda group: group.method)

    @cached_property
    def datasets(self) -> dict[str, list[Group]]:
        """The same by dataset."""
        return self._groups_by(lambda group: group.dataset)

    def _groups_by(self, name: Callable[[Group], str]) -> dict[str, list[Group]]:
        groups: dict[str, list[Group]] = {}
        for group in self.report.evidence.groups:
            groups.setdefault(name(group), []).append(group)
        return dict(sorted(groups.items()))

    @cached_property
    def sheets(self) -> dict[str, tuple[Book, str, Sheet | None, list[Comparison]]]:
        """The pages of claims by name: book, heading, sheet of the study, claims."""
        pages: dict[str, tuple[Book, str, Sheet | None, list[Comparison]]] = {}
        studies = {study.benchmark: study for study in self.report.studies}
        for book in self.report.books:
            by_sheet: dict[str, list[Comparison]] = {}
            for one in book.comparisons:
                kind, method, *_ = group_of(one)
                by_sheet.setdefault(one.claim.sheet or f"{method}: {kind}", []).append(one)
            for sheet in studies[book.benchmark].sheets if book.benchmark in studies else ():
                label = f"{sheet.kind.capitalize()} {sheet.number}"
                name = slug(book.benchmark, label)
                pages[name] = (book, heading(sheet), sheet, by_sheet.pop(label, []))
            for label, members in by_sheet.items():
                pages[slug(book.benchmark, label)] = (book, label, None, members)
        return pages

    @cached_property
    def methods_of(self) -> dict[str, set[str | None]]:
        """The methods that the claims of each page are about."""
        return {name: {one.target.method for one in members} for name, (_, _, _, members) in self.sheets.items()}

    @cached_property
    def findings(self) -> dict[str, tuple[str, Finding]]:
        """The findings by the name of their page, with their benchmark."""
        return {
            f"{benchmark}-{place}": (benchmark, one)
            for benchmark, members in self.report.findings
            for place, one in enumerate(members, start=1)
        }

    def anchor(self, group: Group) -> str:
        """The place of a group on its method's page."""
        return f"g{digest_of([group.row, group.dataset, group.split])[:12]}"

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Path and content of every file."""
        yield "style.css", self.context["style"].encode()
        yield "index.html", self._index()
        for name, groups in self.methods.items():
            yield f"methods/{name}.html", self._method(name, groups)
        for name, groups in self.datasets.items():
            yield f"datasets/{name}.html", self._dataset(name, groups)
        for name in self.sheets:
            yield f"claims/{name}.html", self._claims(name)
        for name, (benchmark, finding) in self.findings.items():
            yield f"findings/{name}.html", self._finding(benchmark, finding)
        yield from sorted(self.copies.items())

    def _page(self, template: str, root: str = "../", **values: Any) -> bytes:
        numbers = _Numbers(self)
        own = {"root": root, "href": numbers.href, "rests": numbers.rests}
        text: str = self.environment.get_template(template).render(self.context, **own, **values)
        return text.encode()

    def _copy(self, file: File) -> tuple[str, str, str]:
        """Place, sha256 and address of a file of the repository that the site holds as text."""
        place = self.report.evidence.place(file.path)
        name = f"files/{place}.txt"
        if name not in self.copies:
            self.copies[name] = file.path.read_bytes()
        return place, file.sha256, f"../{name}"

    def _index(self) -> bytes:
        tables = []
        by_method: dict[str, Counter[ClaimVerdict]] = {}
        for book in self.report.books:
            for one in book.comparisons:
                by_method.setdefault(one.target.method or "", Counter())[one.verdict] += 1
        rows: list[tuple[Any, ...]] = []
        for name, groups in self.methods.items():
            card, tally = load_method(self.report.layout, name), by_method.get(name, Counter())
            about = f"{', '.join(card.benchmarks)}: {card.category}"
            title = card.title if card.title == name else f"{card.title} ({name})"
            rows.append((f"methods/{name}.html", title, about, [tally[one] for one in _DECIDED], _marks(groups)))
        verdicts = [str(one) for one in _DECIDED]
        hint = "Claims about each that a run decided, and its planned cells by verdict."
        tables.append(("methods", "Methods", hint, ["method", "kind", *verdicts, "cells"], rows))
        rows = []
        for name, groups in self.datasets.items():
            manifest = load_manifest(self.report.layout, name)
            title = manifest.title if manifest.title == name else f"{manifest.title} ({name})"
            rows.append((f"datasets/{name}.html", title, manifest.benchmark, [], _marks(groups)))
        hint = "Where each comes from, its splits by sha256, and what ran on it."
        tables.append(("datasets", "Datasets", hint, ["dataset", "benchmark", "cells"], rows))
        rows = []
        for name, (book, title, _, members) in self.sheets.items():
            tally = Counter(one.verdict for one in members)
            rows.append((f"claims/{name}.html", title, book.benchmark, [tally[one] for one in ClaimVerdict], None))
        hint = "The tables and figures of the papers, made again, and other published numbers."
        head = ["table, figure or numbers", "benchmark", *map(str, ClaimVerdict)]
        tables.append(("claims", "Claims", hint, head, rows))
        rows = [
            (f"findings/{name}.html", one.title, f"{benchmark}: {one.about}", [], None)
            for name, (benchmark, one) in self.findings.items()
        ]
        hint = "What an original or a paper does otherwise than it says, and what demonstrates it."
        tables.append(("findings", "Findings", hint, ["finding", "about"], rows))
        return self._page("index.html", root="", tables=tables, name=self.report.table.name)

    def _method(self, name: str, groups: Sequence[Group]) -> bytes:
        made = self.report.evidence.made(name)
        own = self.report.layout.methods / name
        concerning = [
            (f"../findings/{page}.html", one.title)
            for page, (_, one) in self.findings.items()
            if name in one.methods
        ]
        concerning += [
            (f"../claims/{page}.html", f"{book.benchmark}: {title}")
            for page, (book, title, _, _) in self.sheets.items()
            if name in self.methods_of[page]
        ]
        waiting = Counter(
            (str(one.cell.verdict), one.cell.job.dataset, one.cell.reason)
            for group in groups
            for one in group.cells
            if not one.cell.record
        )
        files = made.files if made else ()
        return self._page(
            "method.html",
            card=load_method(self.report.layout, name),
            made=made,
            groups=[self._group(group, made.image if made else "") for group in groups if _has_runs(group)],
            concerning=concerning,
            waiting=[(*about, count) for about, count in sorted(waiting.items())],
            files=[self._copy(file) for file in files],
            texts=[
                (self.report.evidence.place(file.path), file.path.read_text(encoding="utf-8"))
                for file in files
                if file.path.is_relative_to(own)
            ],
            locks=[self._copy(lock) for lock in made.locks] if made else [],
        )

    def _group(self, group: Group, image: str) -> dict[str, Any]:
        metrics = [metric for members in known_sets([group]) for metric in members]
        scores = [(metric, summary) for metric in metrics if (summary := group.summary(metric))]
        runs = [scored for scored in group.cells if scored.cell.record]
        return {
            "id": self.anchor(group),
            "title": f"{group.row} on {group.dataset}, {group.split}",
            "dataset": group.dataset,
            "verdicts": [(str(one), count) for one in Verdict if (count := group.verdicts[one])],
            "scores": scores,
            "earlier": sum(scored.cell.record["planned"]["image_tree"] != image for scored in runs),
            "runs": [self._run(scored, [metric for metric, _ in scores]) for scored in runs],
        }

    def _run(self, scored: ScoredCell, metrics: Sequence[str]) -> dict[str, Any]:
        record, key = scored.cell.record, record_key(scored)
        log: Mapping[str, Any] = record["files"].get(LOG, {})
        path = self.report.store.path(key) / LOG
        reference = "--reference " if scored.reference else ""
        return {
            "key": key,
            "seed": scored.cell.job.split.seed,
            "verdict": str(scored.cell.verdict),
            "reason": scored.cell.reason,
            "scores": [scored.metrics.get(metric) for metric in metrics],
            "record": digest_of(record),
            "log": log.get("sha256", "no log"),
            "log_bytes": f"{log.get('bytes', 0):,}",
            "log_text": "" if scored.reference else log_tail(path, _TAIL),
            "split": record["planned"]["split_digest"],
            "again": f"harness audit {reference}{key[:12]} --replay 1",
        }

    def _dataset(self, name: str, groups: Sequence[Group]) -> bytes:
        layout = self.report.layout
        ran = [group for group in groups if _has_runs(group)]
        planned = [one.cell.record["planned"] for group in ran for one in group.cells if one.cell.record]
        recorded = {line.sha256 for line in recorded_splits(layout, name).values()}
        where = recorded_path(layout, name)
        splits = {
            (one.cell.job.split.text, one.cell.job.split.seed, one.cell.record["planned"]["split_digest"])
            for group in ran
            for one in group.cells
            if one.cell.record
        }
        # no page tells where a person's own dataset lies
        place = (
            os.path.relpath(where, layout.root) if where.is_relative_to(layout.root) else f"{name}/{where.name}"
        )
        return self._page(
            "dataset.html",
            manifest=load_manifest(layout, name),
            digests=sorted({one["dataset_digest"] for one in planned}),
            matrix=matrix_of(name, ran, "note", shared=True) if ran else None,
            without=len({group.split for group in groups} - {group.split for group in ran}),
            entry_href=lambda entry: (
                f"../methods/{entry['group'].method}.html#{self.anchor(entry['group'])}"
                if _has_runs(entry["group"])
                else ""
            ),
            splits=[
                (split, seed, digest, place if digest in recorded else "the records of its runs")
                for split, seed, digest in sorted(splits)
            ],
        )

    def _claims(self, name: str) -> bytes:
        book, title, sheet, members = self.sheets[name]
        study = next((one for one in self.report.studies if one.benchmark == book.benchmark), None)
        shown = [one for one in members if one.verdict in _DECIDED or one.ours is not None]
        shown.sort(key=lambda one: list(ClaimVerdict).index(one.verdict))
        others = Counter((str(one.verdict), one.reason) for one in members if one.ours is None)
        tally = Counter(one.verdict for one in members)
        return self._page(
            "claims.html",
            heading=title,
            benchmark=book.benchmark,
            sources=book.sources,
            columns=study.columns if study and sheet and sheet.columns else "",
            sheet=sheet,
            tally=[(str(one), tally[one]) for one in ClaimVerdict if tally[one]],
            claims=[claim_json(book, one) for one in shown],
            reasons=[(*about, count) for about, count in others.most_common()],
        )

    def _finding(self, benchmark: str, finding: Finding) -> bytes:
        layout, tests = self.report.layout, []
        for place in dict.fromkeys(shown.partition("::")[0] for shown in finding.shown_by):
            path = layout.root / place
            if place.startswith("tests/") and path.is_file():
                tests.append(self._copy(File(path, sha256_of(path))))
        splits = [(split, f"../datasets/{split.split()[0]}.html#splits") for split in finding.splits]
        return self._page("finding.html", finding=finding, benchmark=benchmark, tests=tests, splits=splits)


def record_key(scored: ScoredCell) -> str:
    """The key in the record of a run."""
    return str(scored.cell.record["key"])


def _has_runs(group: Group) -> bool:
    return any(scored.cell.record for scored in group.cells)


def _marks(groups: Sequence[Group]) -> list[tuple[str, int]]:
    """The cells of these groups by verdict."""
    counts = sum((group.verdicts for group in groups), Counter[Verdict]())
    return [(str(verdict), counts[verdict]) for verdict in Verdict if counts[verdict]]
