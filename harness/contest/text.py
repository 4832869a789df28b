"""A contest as text, Markdown, LaTeX and CSV. All but CSV show the same entries and the same notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.base.markdown import plain
from harness.base.tables import aligned, csv_text, markdown_table, wrapped
from harness.contest.contest import Contest, Entry
from harness.contest.rows import COLUMNS, notes, p_text, rows_of

_NOTHING = "-"

# TeX's own signs, and those of ours that its usual fonts lack.
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "†": r"\textsuperscript{\dag}",
    "‡": r"\textsuperscript{\ddag}",
    "§": r"\textsuperscript{\S}",
    "°": r"\textsuperscript{$\circ$}",
}


def header(contest: Contest) -> list[str]:
    """The names of the columns; those of the tests only where there are any."""
    columns = ["method", "mean ± sd", "n", "rank"]
    return [*columns, "difference", "p (Holm)", "dominance", "d_z"] if contest.tests else columns


def entry_texts(contest: Contest, entry: Entry) -> list[str]:
    """One entry under `header`."""
    summary, test = entry.summary, entry.test
    marks = "".join(mark.value for mark in entry.marks)
    name = f"{entry.group.title} [control]" if entry.group.control else entry.group.title
    mean = f"{summary.text if summary else _NOTHING}{marks}"
    count = f"{len(entry.values)}/{entry.planned}" if len(entry.values) < entry.planned else str(entry.planned)
    texts = [name, mean, count, _NOTHING if entry.rank is None else f"{entry.rank:g}"]
    if not contest.tests:
        return texts
    if test is None or entry.adjusted_p is None:
        return [*texts, *[_NOTHING] * 4]
    effect = _NOTHING if test.dz is None else f"{test.dz:+.2f}"
    return [*texts, f"{test.difference:+.4f}", p_text(entry.adjusted_p), f"{test.dominance:+.2f}", effect]


def is_best(contest: Contest, entry: Entry) -> bool:
    """Whether the mean of an entry is the best of its setting, among those that have a rank."""
    return entry.rank is not None and entry.rank == min(
        other.rank for other in contest.settings[entry.setting] if other.rank is not None
    )


def to_text(contest: Contest) -> str:
    """For a terminal: a block per setting, the mean ranks, the notes."""
    lines = []
    for setting, members in contest.settings.items():
        lines += [f"{contest.metric.name} on {setting}"]
        lines += aligned(
            [header(contest), *(entry_texts(contest, one) for one in members)], indent="  ", ruled=True
        )
        lines.append("")
    if contest.rank_test:
        lines += [*aligned([["method", "mean rank"], *_mean_ranks(contest)], indent="  ", ruled=True), ""]
    return "\n".join([*lines, *(line for note in notes(contest) for line in wrapped(note, ""))]) + "\n"


def to_markdown(contest: Contest) -> str:
    """For documents; the best mean of each setting is bold."""
    lines = []
    for setting, members in contest.settings.items():
        rows = [_marked(contest, one, plain, lambda text: f"**{text}**") for one in members]
        lines += [f"**{plain(contest.metric.name)} on {plain(setting)}**", ""]
        lines += [*markdown_table([plain(one) for one in header(contest)], rows), ""]
    if contest.rank_test:
        lines += markdown_table(
            ["method", "mean rank"], [[plain(one) for one in row] for row in _mean_ranks(contest)]
        )
        lines.append("")
    return "\n".join([*lines, *(f"- {plain(note)}" for note in notes(contest))]) + "\n"


def to_latex(contest: Contest) -> str:
    """A `table` for LaTeX with the package booktabs; the best mean of each setting is bold."""
    columns = header(contest)
    body: list[str] = []
    for setting, members in contest.settings.items():
        span = rf"\multicolumn{{{len(columns)}}}{{l}}{{\textit{{{latex(setting)}}}}} \\"
        rows = [_marked(contest, one, _latex_entry, lambda text: rf"\textbf{{{text}}}") for one in members]
        body += [r"\midrule", span, *(" & ".join(row) + r" \\" for row in rows)]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(contest.metric.name)}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(columns) - 2)}}}",
        r"\toprule",
        " & ".join("$d_z$" if one == "d_z" else latex(one) for one in columns) + r" \\",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if contest.rank_test:
        lines += [
            r"\par\medskip",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"method & mean rank \\",
            r"\midrule",
            *(" & ".join(map(latex, row)) + r" \\" for row in _mean_ranks(contest)),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    lines += [rf"\par\smallskip\raggedright\footnotesize {latex(note)}" for note in notes(contest)]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def to_csv(contest: Contest) -> str:
    """One line per method and setting, numbers in full; `remark` says what a marked number lacks."""
    return csv_text(COLUMNS, ([row[name] for name in COLUMNS] for row in rows_of(contest)))


def latex(text: str) -> str:
    """The text for TeX: its signs escaped."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _latex_entry(text: str) -> str:
    """The text for TeX; a number with its sign is mathematics, or its minus would be a hyphen."""
    return f"${text}$" if text[:1] in ("+", "-") and text[1:2].isdigit() else latex(text)


def _marked(
    contest: Contest, entry: Entry, escape: Callable[[str], str], bold: Callable[[str], str]
) -> Sequence[str]:
    texts = [escape(text) for text in entry_texts(contest, entry)]
    if is_best(contest, entry):
        texts[1] = bold(texts[1])
    return texts


def _mean_ranks(contest: Contest) -> list[list[str]]:
    return [[row, f"{rank:.2f}"] for row, rank in sorted(contest.mean_ranks.items(), key=lambda one: one[1])]
