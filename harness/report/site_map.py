"""What pages a site has, and where on them a run, a group of cells, a claim or a finding stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness import benchmarks
from harness.base.files import digest_of
from harness.compare import Book, Comparison
from harness.compare.book import group_of
from harness.report.evidence import Evidence
from harness.report.html import Report
from harness.results.findings import Finding
from harness.status import Group
from harness.study.sheets import Sheet, heading


def slug(*words: str) -> str:
    """A name for a file, which says the words as far as a file's name can."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


@dataclass(frozen=True)
class SiteMap:
    """The pages of one report, by name."""

    report: Report

    @property
    def evidence(self) -> Evidence:
        """All runs that the site speaks of."""
        return self.report.evidence

    @cached_property
    def methods(self) -> dict[str, list[Group]]:
        """The groups of every method in the table or with runs, by name: by benchmark, controls last."""
        return self._groups_by(lambda group: group.method)

    @cached_property
    def datasets(self) -> dict[str, list[Group]]:
        """The same by dataset."""
        return self._groups_by(lambda group: group.dataset)

    def _groups_by(self, name: Callable[[Group], str]) -> dict[str, list[Group]]:
        groups: dict[str, list[Group]] = {}
        for group in self.evidence.groups:
            groups.setdefault(name(group), []).append(group)
        places = benchmarks.in_order({group.benchmark for group in self.evidence.groups})

        def place(of: str) -> tuple[int, bool, str]:
            members = groups[of]
            return places.index(members[0].benchmark), all(group.control for group in members), of

        return {of: groups[of] for of in sorted(groups, key=place)}

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

    def title(self, group: Group) -> str:
        """What the runs of a group are called."""
        return f"{group.row} on {group.dataset}, {group.split}"

    def anchor(self, group: Group) -> str:
        """The place of a group on its method's page."""
        return f"g{digest_of([group.row, group.dataset, group.split])[:12]}"


@dataclass
class RunLinks:
    """Where the runs of a page's numbers stand: on the page of their method, or in a list at the page's end."""

    site: SiteMap
    lists: dict[tuple[tuple[str, str, int], ...], str] = field(default_factory=dict)

    def href(self, keys: Sequence[str]) -> str:
        groups = self.site.evidence.groups_of(keys)
        if not groups:
            return ""
        if len(groups) == 1:
            place = f"run-{keys[0][:12]}" if len(keys) == 1 else self.site.anchor(groups[0])
            return f"../methods/{groups[0].method}.html#{place}"
        runs = Counter(id(self.site.evidence.group_of[key]) for key in keys if key in self.site.evidence.runs)
        own = tuple(
            (
                self.site.title(one),
                f"../methods/{one.method}.html#{self.site.anchor(one)}",
                runs[id(one)],
            )
            for one in groups
        )
        return f"#{self.lists.setdefault(own, f'rests-{len(self.lists) + 1}')}"

    def rests(self) -> list[tuple[str, list[tuple[str, str, int]]]]:
        return [(name, list(own)) for own, name in self.lists.items()]
