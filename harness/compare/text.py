"""A book of claims as plain text, Markdown or JSON values: sums first, then single claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from statistics import median
from typing import Any

from harness.base.markdown import code, plain
from harness.base.plurals import counted
from harness.base.tables import aligned, markdown_table, wrapped
from harness.compare.book import Book, group_of, keys_of
from harness.compare.claims import Claim
from harness.compare.comparison import ClaimVerdict, Comparison

# Longer lists and tables are shown only on request.
_LIST_UP_TO = 60
_NONE = "-"
_OF_INTERVALS = ("90 % interval", "margin", "needed")
_HEAD = ("verdict", "metric", "published", "ours", "difference", *_OF_INTERVALS)


_Group = tuple[str, str, str, str]


def headline(book: Book) -> str:
    """`repurposing: 10 claims = 6 reproduced + 4 not-comparable`: the sum that must hold."""
    terms = [f"{book.tally[verdict]} {verdict}" for verdict in ClaimVerdict if book.tally[verdict]]
    count = len(book.comparisons)
    return f"{book.benchmark}: {counted(count, 'claim')} = {' + '.join(terms) or '0'}"


def to_text(book: Book, *, everything: bool = False) -> str:
    """Sums, counts by group, the decided claims (or every claim), legend."""
    about = (*book.sources, *_of_seeds(book))
    lines = [headline(book), *(line for text in about for line in wrapped(text, "  ")), ""]
    selection = _selection(book, everything=everything)
    if len(book.groups) > 1:
        lines += [*_count_lines(book), ""]
    for title, members in groupby(selection, key=_title):
        lines += [title, *_comparison_lines(list(members)), ""]
    if rest := _rest(book, selection):
        lines += [rest, ""]
    present = [verdict for verdict in ClaimVerdict if book.tally[verdict]]
    lines += [f"{verdict:14}  {verdict.meaning}" for verdict in present]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_markdown(book: Book, *, everything: bool = False) -> str:
    """The same for documents."""
    lines = [f"# Claims of {code(book.benchmark)}", "", plain(headline(book)), ""]
    lines += [*(f"- {plain(one)}" for one in (*book.sources, *_of_seeds(book))), ""]
    verdicts = list(ClaimVerdict)
    rows = [
        [*map(plain, group), *(str(counts[verdict]) for verdict in verdicts)]
        for group, counts in _counts(book).items()
    ]
    lines += [*markdown_table(["claims", "method", "dataset", "split", *map(str, verdicts)], rows), ""]
    selection = _selection(book, everything=everything)
    for title, members in groupby(selection, key=_title):
        lines += [f"## {plain(title)}", ""]
        lines += markdown_table(
            [*_HEAD, "test", "reason"],
            [[*map(plain, (*_figures(one), one.test, one.why))] for one in members],
        )
        lines.append("")
    lines.append(plain(_rest(book, selection)))
    return "\n".join(lines).rstrip() + "\n"


def to_json(book: Book) -> dict[str, Any]:
    """Every claim with its verdict."""
    return {
        "benchmark": book.benchmark,
        "sources": list(book.sources),
        "claims": len(book.comparisons),
        "verdicts": {str(verdict): book.tally[verdict] for verdict in ClaimVerdict if book.tally[verdict]},
        "comparisons": [comparison_json(one, keys_of(book, one)) for one in book.comparisons],
    }


def comparison_json(one: Comparison, keys: Sequence[str]) -> dict[str, Any]:
    """One claim as JSON values, with the keys of the runs that our number rests on (`keys_of`)."""
    claim = one.claim
    return {
        "source": claim.source,
        "statistic": claim.statistic,
        "published_names": {name: getattr(claim, name) for name in ("method", "dataset", "split", "metric")},
        **asdict(one.target),
        "seed": claim.seed,
        "metric": one.metric,
        "published": claim.published,
        "published_sd": claim.sd,
        "published_n": claim.n,
        "authors_files": None if one.files is None else asdict(one.files),
        "ours": one.ours,
        "n": one.n,
        "difference": one.difference,
        "interval_low": None if one.interval is None else one.interval[0],
        "interval_high": None if one.interval is None else one.interval[1],
        "margin": one.margin,
        "needed": one.needed,
        "test": one.test,
        "verdict": str(one.verdict),
        "reason": one.why,
        "keys": list(keys),
    }


def _of_seeds(book: Book) -> Iterator[str]:
    """How many reproduced values per seed are those of every seed, and how far off those are that deviate."""
    values = [one for one in book.comparisons if one.claim.statistic == "value"]
    published: dict[tuple[str, ...], list[str]] = {}
    for one in values:
        published.setdefault(_cell(one.claim), []).append(one.claim.published)
    reproduced = [one for one in values if one.verdict is ClaimVerdict.REPRODUCED]
    same = [one for one in reproduced if len(of := published[_cell(one.claim)]) > 1 == len({*of})]
    if same:
        yield (
            f"of the {counted(len(reproduced), 'value')} per seed reproduced, {len(same)} are published as the "
            "same for every seed of their cell"
        )
    deviating = [one for one in values if one.verdict is ClaimVerdict.DEVIATES]
    differences = [abs(one.difference) for one in deviating if one.difference is not None]
    if len(differences) > 1:
        half, most = f"{median(differences):.1e}", f"{max(differences):.1e}"
        yield (
            f"of the {len(differences)} values per seed that deviate, half do so by no more than {half}, and none "
            f"by more than {most}"
        )


def _cell(claim: Claim) -> tuple[str, ...]:
    """What a value per seed is one of several of."""
    return claim.method, claim.dataset, claim.split, claim.metric


def _rest(book: Book, selection: Sequence[Comparison]) -> str:
    """What is said of the claims that are not listed; nothing where all are."""
    if rest := len(book.comparisons) - len(selection):
        return f"{counted(rest, 'claim')} not listed; --all lists them, --method, --dataset, --seed choose."
    return ""


def _selection(book: Book, *, everything: bool) -> list[Comparison]:
    """All claims if they are few or requested; else those of the paper's tables that are decided or lack runs.

    Deviating ones come after them.
    """
    in_order = sorted(book.comparisons, key=lambda one: (_title(one), list(ClaimVerdict).index(one.verdict)))
    if everything or len(in_order) <= _LIST_UP_TO:
        return in_order
    sides = (ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED)
    decided = [one for one in in_order if one.verdict in sides or one.needed is not None]
    if len(decided) <= _LIST_UP_TO:
        return decided
    tables = [one for one in decided if _is_of_a_table(one)]
    others = [one for one in decided if one.verdict is ClaimVerdict.DEVIATES and not _is_of_a_table(one)]
    return [*tables, *others[:_LIST_UP_TO]]


def _is_of_a_table(one: Comparison) -> bool:
    return bool(one.claim.sheet) and one.claim.statistic != "status"


def _counts(book: Book) -> dict[_Group, Counter[ClaimVerdict]]:
    return {group: Counter(one.verdict for one in members) for group, members in book.groups.items()}


def _count_lines(book: Book) -> list[str]:
    """Counts by group; groups in which nothing is comparable share one line."""
    verdicts = list(ClaimVerdict)
    rows, absent = [["claims", "method", "dataset", "split", "repr.", "dev.", "n.c.", "pend."]], Counter[str]()
    for group, counts in counts_by_group(book).items():
        if counts[ClaimVerdict.NOT_COMPARABLE] == sum(counts.values()):
            absent[group[0]] += sum(counts.values())
        else:
            rows.append([*group, *(str(counts[verdict]) for verdict in verdicts)])
    lines = aligned(rows, indent="  ") if len(rows) > 1 else []
    if absent:
        counts_of_kinds = ", ".join(f"{count} ({kind})" for kind, count in absent.items())
        lines += wrapped(f"in groups where nothing is comparable: {counts_of_kinds}", "  ")
    return lines


def counts_by_group(book: Book) -> Mapping[_Group, Counter[ClaimVerdict]]:
    """Counts by kind of claim, method, dataset and split; if these are too many, by kind and method."""
    counts = _counts(book)
    if len(counts) <= _LIST_UP_TO:
        return counts
    members_by_method: dict[tuple[str, str], dict[_Group, Counter[ClaimVerdict]]] = {}
    for group, tally in counts.items():
        members_by_method.setdefault(group[:2], {})[group] = tally
    sums = {}
    for (kind, method), members in members_by_method.items():
        names = ({group[place] for group in members} for place in (2, 3))
        dataset, split = (next(iter(own)) if len(own) == 1 else f"all {len(own)}" for own in names)
        sums[kind, method, dataset, split] = sum(members.values(), Counter[ClaimVerdict]())
    return sums


def _comparison_lines(members: Sequence[Comparison]) -> list[str]:
    columns = zip(_HEAD, *map(_figures, members), strict=True)
    # values per seed have no interval
    kept = [column for column in columns if column[0] not in _OF_INTERVALS or {*column[1:]} != {_NONE}]
    lines = aligned(zip(*kept, strict=True), indent="  ")
    reasons: dict[str, list[str]] = {}
    for one in members:
        if one.verdict is not ClaimVerdict.REPRODUCED or one.controls:
            reasons.setdefault(one.why, []).append(one.claim.metric or one.claim.statistic)
    tests = [f"test: {test}" for test in dict.fromkeys(one.test for one in members if one.test)]
    reason_texts = [f"{', '.join(dict.fromkeys(metrics))}: {reason}" for reason, metrics in reasons.items()]
    return lines + [line for text in (*tests, *reason_texts) for line in wrapped(text, "    ")]


def _figures(one: Comparison) -> tuple[str, ...]:
    """The entries of a claim, as `_HEAD` names them. `needed`: runs in all, of which we have some."""
    claim = one.claim
    published = claim.published if claim.sd is None else f"{claim.published} ± {claim.sd:g}"
    published += f" ({claim.n})" if claim.n and claim.sd is not None else ""
    interval = _NONE if one.interval is None else " to ".join(f"{end:+.2e}" for end in one.interval)
    margin = _NONE if one.margin is None or one.interval is None else f"{one.margin:.2e}"
    power = interval, margin, _NONE if one.needed is None else counted(one.needed, "run")
    if claim.statistic == "status":
        return str(one.verdict), "status", published, counted(one.n, "run"), _NONE, *power
    ours = (
        _NONE
        if one.ours is None
        else (repr(float(one.ours)) if claim.seed is not None else f"{one.ours:.5f} ({one.n})")
    )
    difference = _NONE if one.difference is None else ("0" if one.difference == 0 else f"{one.difference:+.2e}")
    what = claim.metric if claim.statistic in ("value", "mean") else f"{claim.metric} {claim.statistic}"
    return str(one.verdict), what, published, ours, difference, *power


def _title(one: Comparison) -> str:
    kind, method, dataset, split = group_of(one)
    seed = "" if one.claim.seed is None else f", seed {one.claim.seed}"
    return f"{method} on {dataset}, {split}{seed} ({kind})"
