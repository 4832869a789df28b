"""What tasks are about: classes of drugs and targets (Tests 2, 3), and diseases (Tests 5, 6).

Classes come from tables read off the published tasks. A disease has its published test files, which are complete:
new bindings, and the negatives of each space as a group of its own, `test6-TEO/obesity` beside `test6/obesity`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from harness.base.errors import CorruptData
from harness.benchmarks.dti.converters.beta.records import once, pairs_in, short_id, table
from harness.benchmarks.dti.dataset import LEADING, MEMBER, Integers
from harness.benchmarks.dti.splits.java import JavaRandom, buckets_of, hash_codes, shuffled, table_of
from harness.data.lines import path_of

DRUG_CLASSES, TARGET_CLASSES, FOLDS = "t2_class_K.csv", "t3_class_K.csv", "test3_repo_testpairs.csv.gz"
# the folds of the published tasks, and the seed of their shuffle
_FOLD_COUNT, _SEED = 10, 1024
# published files end with this line
_CUT = 101
# how the names of test files end, and what the spaces are called
SPACES = {"tt": "TEO", "trt": "TRO", "te": "TEE", "tre": "TRE"}
_TASK = re.compile(r"test([56])_(.+)_(tt|trt|te|tre)\.nt")
_IRI = "<http://bio2rdf.org/drugbank"
_BINDING = f"{_IRI}:{{}}> {_IRI}_vocabulary:drug-target> {_IRI}:{{}}> ."

Known = tuple[str, str]


@dataclass(frozen=True)
class NamedGroup:
    """Members by name in their order, how many there are with those that nobody knows, and bindings."""

    name: str
    pairs: Sequence[Known]
    members: Sequence[str] = ()
    leading: Sequence[str] = ()
    size: int = 0

    def nodes(self, kind: str) -> list[str]:
        """Every drug (`db`) or target (`be`) that it names."""
        named = (*(node for pair in self.pairs for node in pair), *self.members, *self.leading)
        return [node for node in named if node.startswith(kind)]


class GroupArrays(TypedDict):
    """The fields of a dataset that are about groups."""

    group_names: tuple[str, ...]
    group_sizes: Integers
    group_members: Integers
    group_pairs: Integers


def read_classes(files: Mapping[str, Path], known: Sequence[Known]) -> list[NamedGroup]:
    """The classes of Tests 2 and 3, in the order of their tables; none where nobody brought them."""
    groups = []
    if DRUG_CLASSES in files:
        columns = ("scheme", "class", "size_K", "leading_drugs", "K_in_P_in_iteration_order")
        for where, row in table(files[DRUG_CLASSES], columns):
            leading, members = (_nodes(row[column], "db", where) for column in columns[3:])
            pairs = _by(0, members, known)
            groups.append(NamedGroup(_class_name(2, row), pairs, members, leading, _size(row, members, where)))
    if TARGET_CLASSES in files:
        order, folds = "K_in_iteration_order", _published_folds(path_of(FOLDS, files))
        for where, row in table(files[TARGET_CLASSES], ("scheme", "class", "size_K", order)):
            members, name = _nodes(row[order], "be", where), _class_name(3, row)
            pairs = _in_folds(_by(1, members, known), folds.pop(name, {}), where)
            groups.append(NamedGroup(name, pairs, members, size=_size(row, members, where)))
        groups += [_other_class(name, own, str(files[FOLDS])) for name, own in folds.items()]
    return groups


def _other_class(name: str, folds: Mapping[Known, tuple[int, int]], where: str) -> NamedGroup:
    """A class of which only the published tasks tell; of size 0 where these are cut before the last binding."""
    if max(Counter(fold for fold, _ in folds.values()).values()) >= _CUT:
        return NamedGroup(name, list(folds))
    members = list(dict.fromkeys(target for _, target in folds))
    return NamedGroup(name, _in_folds(list(folds), folds, where), members, size=len(members))


def read_diseases(
    files: Mapping[str, Path], known: Collection[Known], sizes: Mapping[str, int]
) -> Iterator[NamedGroup]:
    """The diseases of Tests 5 and 6 with the published negatives. Members are those that these show."""
    tasks: dict[tuple[str, str], dict[str, Path]] = {}
    for name, path in files.items():
        if match := _TASK.fullmatch(name):
            tasks.setdefault((match[1], match[2]), {})[SPACES[match[3]]] = path
    for (test, disease), paths in sorted(tasks.items()):
        bindings: list[Known] = []
        negatives = {}
        for space, path in paths.items():
            pairs = list(once(pairs_in(path, {"true": True, "false": False})))
            own = [(pair.drug, pair.target) for pair in pairs if pair.binds]
            if own != (bindings := bindings or own) or not set(own).isdisjoint(known):
                raise CorruptData(
                    f"the bindings of {disease} are not those of its other files, or are known ones",
                    where=str(path),
                    todo="restore the original files",
                )
            negatives[space] = [(pair.drug, pair.target) for pair in pairs if not pair.binds]
        members = sorted({target for space in ("TEO", "TRO") for _, target in negatives.get(space, ())})
        yield NamedGroup(f"test{test}/{disease}", bindings, members, size=max(sizes.get(disease, 0), len(members)))
        for space, rows in negatives.items():
            yield NamedGroup(f"test{test}-{space}/{disease}", rows)


def arrays_of(groups: Sequence[NamedGroup], number: Mapping[str, int], drugs: int) -> GroupArrays:
    """The groups as a dataset keeps them: nodes by their number, targets of pairs from the first target on."""
    members = [
        (place, role, number[node])
        for place, group in enumerate(groups)
        for role, nodes in ((MEMBER, group.members), (LEADING, group.leading))
        for node in nodes
    ]
    pairs = [
        (place, number[drug], number[target] - drugs)
        for place, group in enumerate(groups)
        for drug, target in group.pairs
    ]
    return GroupArrays(
        group_names=tuple(group.name for group in groups),
        group_sizes=np.array([group.size for group in groups], dtype=np.int32),
        group_members=np.array(members, dtype=np.int32).reshape(-1, 3),
        group_pairs=np.array(pairs, dtype=np.int32).reshape(-1, 3),
    )


def _class_name(test: int, row: Mapping[str, str]) -> str:
    return f"test{test}/{row['scheme'].rpartition('/')[2]}:{row['class']}"


def _nodes(cell: str, kind: str, where: str) -> list[str]:
    return list(dict.fromkeys(short_id(text, kind, where) for text in cell.split()))


def _size(row: Mapping[str, str], members: Sequence[str], where: str) -> int:
    size = row["size_K"]
    if not size.isdecimal() or int(size) < len(members):
        raise CorruptData(
            f"size_K '{size}' is not a number of at least {len(members)}, the members of the class",
            where=where,
            todo="give the number of all members",
        )
    return int(size)


def _by(side: int, members: Sequence[str], known: Sequence[Known]) -> list[Known]:
    """The bindings of members, member by member; those of one keep their order."""
    of: dict[str, list[Known]] = {member: [] for member in members}
    for pair in known:
        if pair[side] in of:
            of[pair[side]].append(pair)
    return [pair for pairs in of.values() for pair in pairs]


def _published_folds(path: Path) -> dict[str, dict[Known, tuple[int, int]]]:
    """The fold of every binding that a published task of a class asks, and its line."""
    folds: dict[str, dict[Known, tuple[int, int]]] = {}
    for line, (where, row) in enumerate(table(path, ("task", "fold", "drug", "target", "label"))):
        if not row["fold"].isdecimal() or int(row["fold"]) >= _FOLD_COUNT or row["label"] not in ("0", "1"):
            raise CorruptData(
                "the fold is not 0 to 9, or the label not 0 or 1", where=where, todo="restore the original table"
            )
        if row["label"] == "1":
            pair = short_id(row["drug"], "db", where), short_id(row["target"], "be", where)
            folds.setdefault(f"test3/{row['task']}", {}).setdefault(pair, (int(row["fold"]), line))
    return folds


def _in_folds(pairs: Sequence[Known], folds: Mapping[Known, tuple[int, int]], where: str) -> list[Known]:
    """The bindings of a class in an order that gives the published folds.

    A hash table decides where in the list that is shuffled a binding stands, and the time of adding only where
    several share a bucket. That time is not public, but the published folds say which of them has to come first.
    """
    buckets = buckets_of(hash_codes([_BINDING.format(*pair) for pair in pairs]), table_of(len(pairs)))
    order = np.argsort(buckets, kind="stable")
    listed = shuffled(np.arange(len(pairs)), JavaRandom(_SEED))
    shares = np.array_split(listed, _FOLD_COUNT)
    fold_at = {int(place): fold for fold, share in enumerate(shares) for place in share}
    rank = np.argsort(listed)
    fitted = list(pairs)
    for places in np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(buckets[order])) + 1):
        own = sorted((pairs[at] for at in order[places]), key=lambda pair: folds.get(pair, (-1, 0)))
        for place, pair in zip(sorted(places.tolist(), key=lambda at: int(rank[at])), own, strict=True):
            if folds.get(pair, (-1, 0))[0] != fold_at[place]:
                raise CorruptData(
                    f"{pair[0]} with {pair[1]} can't be in the fold that its tasks show",
                    where=where,
                    todo=f"bring {TARGET_CLASSES} and {FOLDS} of the same release",
                )
            fitted[place] = pair
    return fitted
