"""What is said of an unknown name: what was meant, and where all names are shown, not dozens of them.

`errors.unknown`, which lists them all, is left to code that decides scores and verdicts: it is in their digests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from harness.base.errors import UsageError
from harness.base.few import few_in_line

# as many names as a person reads
_FEW, _NEAR = 8, 3
# what shows all names of a kind
_LISTS = {
    "method": "`harness list methods`",
    "dataset": "`harness list datasets`",
    "suite": "`harness list suites`",
    "metric": "`harness list metrics`",
    "environment": "`harness image list`",
    "pretrained model": "`harness weights list`",
    "run": "`harness status --suite stored --cells` with `harness reference list --keys`",
    "run of the log": "`harness log --json`",
    "run of the committed log": "`harness log --reference --json`",
}


def unknown_name(kind: str, name: str, known: Collection[str], *, where: object = "") -> UsageError:
    """The error for an unknown name, with the nearest that exist, and all where they are few."""
    method, slash, variant = name.partition("/")
    if kind == "method" and slash and method in known:
        return UsageError(
            f"no method is called '{name}'",
            where=str(where),
            todo=f"name a variant beside its method: --method {method} --variant {variant}",
        )
    near = " or ".join(f"'{one}'" for one in _nearest(name, known))
    hint = f"did you mean {near}? " if near else ""
    if len(known) <= _FEW:
        rest = f"known: {', '.join(known) or 'none'}"
    elif kind in _LISTS:
        rest = f"{_LISTS[kind]} shows all {len(known)}"
    else:
        rest = f"known: {few_in_line([*known], _FEW)}"
    return UsageError(f"no {kind} is called '{name}'", where=str(where), todo=hint + rest)


def refuse_unknown_names(kind: str, names: Iterable[str], known: Iterable[str], *, where: object = "") -> None:
    """Raise `UsageError` for an unknown name: a filter by it would show an empty table, as if all were well."""
    choice = sorted(set(known))
    for name in names:
        if name not in choice:
            raise unknown_name(kind, name, choice, where=where)


def _nearest(name: str, known: Collection[str]) -> list[str]:
    """The few names that a person may have meant: spelt alike, or with the same beginning."""
    small = {_spelt(one): one for one in known}
    text = _spelt(name)

    def begins(start: str) -> list[str]:
        return [one for one in small if len(start) >= _NEAR and one.startswith(start)][:_NEAR]

    alike = begins(text) or get_close_matches(text, small, n=_NEAR, cutoff=0.8)
    return [small[one] for one in alike or get_close_matches(text, small, n=1) or begins(text[:_NEAR])]


def _spelt(name: str) -> str:
    """The name without what people leave out or mistake: large letters, hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name.lower())
