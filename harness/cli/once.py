"""Options that are given twice, of which one value would be dropped: refused by a module that loads little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import click


def refuse_twice(context: click.Context, occurring: Iterable[click.Parameter]) -> None:
    """Refuse an option of one value that occurs more than once; of a flag the last one counts."""
    if context.resilient_parsing:
        return
    for option, times in Counter(occurring).items():
        # so that a person can undo the --install of a script
        alone = isinstance(option, click.Option) and not (option.multiple or option.count or option.is_flag)
        if times > 1 and alone:
            name = option.opts[0]
            raise click.BadOptionUsage(name, f"{name} is given twice. It takes one value.", context)
