"""The content of every page of a site."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from harness.base.files import digest_of, sha256_of
from harness.base.logs import log_tail
from harness.base.vocabulary import Verdict
from harness.compare import ClaimVerdict, Comparison
from harness.compare.book import keys_of
from harness.compare.text import comparison_json
from harness.data import load_manifest
from harness.methods.card import load_method
from harness.report.evidence import File, Made
from harness.report.html import context_of, harmless_json, page_environment
from harness.report.matrix import PlaceOfMean, PublishedMean, matrix_of, published_means
from harness.report.site_map import RunLinks, SiteMap
from harness.results.findings import Finding
from harness.results.records import LOG_FILE
from harness.splits.checksums import recorded_path, recorded_splits
from harness.status import Group, ScoredCell, known_sets

if TYPE_CHECKING:
    from jinja2 import Environment

_DECIDED = (ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES)
_TAIL = 4000


@dataclass
class SitePages:
    """All pages of one report, by path, and the files of the repository that they lead to."""

    map: SiteMap
    copies: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def context(self) -> dict[str, Any]:
        """What all pages are told."""
        return context_of(self.map.report)

    @cached_property
    def environment(self) -> Environment:
        """The templates."""
        return page_environment()

    @cached_property
    def means(self) -> dict[PlaceOfMean, PublishedMean]:
        """The published means of all books."""
        return published_means(self.map.report.books)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Path and content of every file."""
        yield "style.css", self.context["style"].encode()
        yield "index.html", self._index()
        for name, groups in self.map.methods.items():
            yield f"methods/{name}.html", self._method(name, groups)
        for name, groups in self.map.datasets.items():
            yield f"datasets/{name}.html", self._dataset(name, groups)
        for name in self.map.sheets:
            yield f"claims/{name}.html", self._claims(name)
        for name, (benchmark, finding) in self.map.findings.items():
            yield f"findings/{name}.html", self._finding(benchmark, finding)
        for digit, runs in self._keys().items():
            yield f"keys/{digit}.js", b'keysOf("%s", %s);\n' % (digit.encode(), harmless_json(runs))
        yield from sorted(self.copies.items())

    def _page(self, template: str, root: str = "../", **values: Any) -> bytes:
        numbers = RunLinks(self.map)
        own = {"root": root, "href": numbers.href, "rests": numbers.rests}
        text: str = self.environment.get_template(template).render(self.context, **own, **values)
        return text.encode()

    def _copy(self, file: File) -> tuple[str, str, str]:
        """Place, sha256 and address of a file of the repository that the site holds as text."""
        place = self.map.evidence.place(file.path)
        name = f"files/{place}.txt"
        if name not in self.copies:
            self.copies[name] = file.path.read_bytes()
        return place, file.sha256, f"../{name}"

    def _keys(self) -> dict[str, list[tuple[str, str, list[str]]]]:
        """The runs by the first digit of their keys: method and title of each group, and the keys of its runs."""
        runs: dict[str, list[tuple[str, str, list[str]]]] = {digit: [] for digit in "0123456789abcdef"}
        for group in self.map.evidence.groups:
            keys = sorted(one.key for one in group.cells if one.key and one.cell.record)
            for digit, own in groupby(keys, key=itemgetter(0)):
                runs[digit].append((group.method, self.map.title(group), [*own]))
        return runs

    def _index(self) -> bytes:
        tables = []
        by_method: dict[str, Counter[ClaimVerdict]] = {}
        for book in self.map.report.books:
            for one in book.comparisons:
                by_method.setdefault(one.target.method or "", Counter())[one.verdict] += 1
        rows: list[tuple[Any, ...]] = []
        for name, groups in self.map.methods.items():
            card, tally = load_method(self.map.report.layout, name), by_method.get(name, Counter())
            about = f"{', '.join(card.benchmarks)}: {card.category}"
            title = card.title if card.title == name else f"{card.title} ({name})"
            rows.append((f"methods/{name}.html", title, about, [tally[one] for one in _DECIDED], _marks(groups)))
        verdicts = [str(one) for one in _DECIDED]
        hint = "Claims about each that a run decided, and its planned cells by verdict."
        tables.append(("methods", "Methods", hint, ["method", "kind", *verdicts, "cells"], rows))
        rows = []
        for name, groups in self.map.datasets.items():
            manifest = load_manifest(self.map.report.layout, name)
            title = manifest.title if manifest.title == name else f"{manifest.title} ({name})"
            rows.append((f"datasets/{name}.html", title, manifest.benchmark, [], _marks(groups)))
        hint = "Where each comes from, its splits by sha256, and what ran on it."
        tables.append(("datasets", "Datasets", hint, ["dataset", "benchmark", "cells"], rows))
        rows = []
        for name, (book, title, _, members) in self.map.sheets.items():
            tally = Counter(one.verdict for one in members)
            rows.append((f"claims/{name}.html", title, book.benchmark, [tally[one] for one in ClaimVerdict], None))
        hint = "The tables and figures of the papers, made again, and other published numbers."
        head = ["table, figure or numbers", "benchmark", *map(str, ClaimVerdict)]
        tables.append(("claims", "Claims", hint, head, rows))
        rows = [
            (f"findings/{name}.html", one.title, f"{benchmark}: {one.about}", [], None)
            for name, (benchmark, one) in self.map.findings.items()
        ]
        hint = "What an original or a paper does otherwise than it says, and what demonstrates it."
        tables.append(("findings", "Findings", hint, ["finding", "about"], rows))
        return self._page("index.html", root="", tables=tables, name=self.map.report.table.name)

    def _method(self, name: str, groups: Sequence[Group]) -> bytes:
        made = self.map.evidence.made(name)
        ran = [group for group in groups if _has_runs(group)]
        every = [made, *(self._made(group) for group in ran)]
        own = self.map.report.layout.methods / name
        concerning = [
            (f"../findings/{page}.html", one.title)
            for page, (_, one) in self.map.findings.items()
            if name in one.methods
        ]
        concerning += [
            (f"../claims/{page}.html", f"{book.benchmark}: {title}")
            for page, (book, title, _, _) in self.map.sheets.items()
            if name in self.map.methods_of[page]
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
            card=load_method(self.map.report.layout, name),
            made=made,
            groups=[self._group(group) for group in ran],
            concerning=concerning,
            waiting=[(*about, count) for about, count in sorted(waiting.items())],
            files=[self._copy(file) for file in files],
            texts=[
                (self.map.evidence.place(file.path), file.path.read_text(encoding="utf-8"))
                for file in files
                if file.path.is_relative_to(own)
            ],
            locks=[self._copy(lock) for lock in dict.fromkeys(lock for one in every if one for lock in one.locks)],
        )

    def _made(self, group: Group) -> Made | None:
        """What the image of a group's runs is made of today: on a GPU it has locks of its own."""
        return self.map.evidence.made(group.method, group.cells[0].cell.job.accelerator)

    def _group(self, group: Group) -> dict[str, Any]:
        metrics = [metric for members in known_sets([group]) for metric in members]
        scores = [(metric, summary) for metric in metrics if (summary := group.summary(metric))]
        runs = [scored for scored in group.cells if scored.cell.record]
        made = self._made(group)
        image = made.image if made else ""
        return {
            "id": self.map.anchor(group),
            "title": self.map.title(group),
            "dataset": group.dataset,
            "verdicts": _marks([group]),
            "scores": scores,
            "locks": [self._copy(lock) for lock in made.locks] if made else [],
            "earlier": sum(scored.cell.record["planned"]["image_tree"] != image for scored in runs),
            "runs": [self._run(scored, [metric for metric, _ in scores]) for scored in runs],
        }

    def _run(self, scored: ScoredCell, metrics: Sequence[str]) -> dict[str, Any]:
        record = scored.cell.record
        key = str(record["key"])
        log: Mapping[str, Any] = record["files"].get(LOG_FILE, {})
        path = self.map.evidence.store.path(key) / LOG_FILE
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
        layout = self.map.report.layout
        ran = [group for group in groups if _has_runs(group)]
        planned = [one.cell.record["planned"] for group in ran for one in group.cells if one.cell.record]
        recorded = {line.sha256 for line in recorded_splits(layout, name).values()}
        where = recorded_path(layout, name)
        splits = sorted(
            {
                (one.cell.job.split.text, one.cell.job.split.seed, one.cell.record["planned"]["split_digest"])
                for group in ran
                for one in group.cells
                if one.cell.record
            }
        )
        # seeds that give one split have one place that runs lead to
        first = {digest: (split, seed) for split, seed, digest in reversed(splits)}
        # no page tells where a person's own dataset lies
        place = (
            os.path.relpath(where, layout.root) if where.is_relative_to(layout.root) else f"{name}/{where.name}"
        )
        return self._page(
            "dataset.html",
            manifest=load_manifest(layout, name),
            digests=sorted({one["dataset_digest"] for one in planned}),
            matrix=matrix_of(name, ran, "matrix-of", self.means, has_one_dataset=True) if ran else None,
            without=len({group.split for group in groups} - {group.split for group in ran}),
            entry_href=lambda group: (
                f"../methods/{group.method}.html#{self.map.anchor(group)}" if _has_runs(group) else ""
            ),
            splits=[
                (
                    f"split-{digest[:12]}" if first[digest] == (split, seed) else "",
                    split,
                    seed,
                    digest,
                    place if digest in recorded else "the records of its runs",
                )
                for split, seed, digest in splits
            ],
        )

    def _claims(self, name: str) -> bytes:
        book, title, sheet, members = self.map.sheets[name]
        study = next((one for one in self.map.report.studies if one.benchmark == book.benchmark), None)
        shown, others = list[Comparison](), Counter[tuple[str, str]]()
        for one in members:
            if one.verdict in _DECIDED or one.ours is not None:
                shown.append(one)
            else:
                others[str(one.verdict), one.reason] += 1
        shown.sort(key=lambda one: list(ClaimVerdict).index(one.verdict))
        tally = Counter(one.verdict for one in members)
        return self._page(
            "claims.html",
            heading=title,
            benchmark=book.benchmark,
            sources=book.sources,
            columns=study.columns if study and sheet and sheet.columns else "",
            sheet=sheet,
            tally=[(str(one), tally[one]) for one in ClaimVerdict if tally[one]],
            claims=[comparison_json(one, keys_of(book, one)) for one in shown],
            reasons=[(*about, count) for about, count in others.most_common()],
        )

    def _finding(self, benchmark: str, finding: Finding) -> bytes:
        layout, tests = self.map.report.layout, []
        for place in dict.fromkeys(shown.partition("::")[0] for shown in finding.shown_by):
            path = layout.root / place
            if place.startswith("tests/") and path.is_file():
                tests.append(self._copy(File(path, sha256_of(path))))
        splits = [(split, f"../datasets/{split.split()[0]}.html#splits") for split in finding.splits]
        return self._page("finding.html", finding=finding, benchmark=benchmark, tests=tests, splits=splits)


def _has_runs(group: Group) -> bool:
    return any(scored.cell.record for scored in group.cells)


def _marks(groups: Sequence[Group]) -> list[tuple[str, int]]:
    """The cells of these groups by verdict."""
    counts = sum((group.verdicts for group in groups), Counter[Verdict]())
    return [(str(verdict), counts[verdict]) for verdict in Verdict if counts[verdict]]
