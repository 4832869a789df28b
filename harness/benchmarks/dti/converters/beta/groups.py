"""What tasks are about: classes of drugs and targets (Tests 2, 3), and diseases (Tests 5, 6).

Classes come from tables read off the published tasks. A disease has its published test files, which are complete:
new bindings, and the negatives of each space as a group of its own, `test6-TEO/obesity` beside `test6/obesity`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.records import Pair, damaged, pairs_in, short_id, table
from harness.benchmarks.dti.splits.java import JavaRandom, buckets_of, hash_codes, shuffled, table_of
from harness.data.lines import path_of, whole

DRUG_CLASSES, TARGET_CLASSES, FOLDS = "t2_class_K.csv", "t3_class_K.csv", "test3_repo_testpairs.csv.gz"
# the folds of the published tasks, and the seed of their shuffle
_FOLD_COUNT, _SEED = 10, 1024
# published files end with this line
_CUT = 101
# the columns of members
_DRUGS, _TARGETS = "K_in_P_in_iteration_order", "K_in_iteration_order"
# how the names of test files end, and what the spaces are called
SPACES = {"tt": "TEO", "trt": "TRO", "te": "TEE", "tre": "TRE"}
_TASK = re.compile(r"test([56])_(.+)_(tt|trt|te|tre)\.nt")
_IRI = "<http://bio2rdf.org/drugbank"
_BINDING = f"{_IRI}:{{}}> {_IRI}_vocabulary:drug-target> {_IRI}:{{}}> ."
# the fold of bindings, and the line of a task that tells it
Folds = Mapping[Pair, tuple[int, int]]
# a text of every drug, or target
Texts = Mapping[str, str]


@dataclass(frozen=True)
class NamedGroup:
    """Members by name in their order, how many there are with those that nobody knows, and bindings."""

    name: str
    pairs: Sequence[Pair]
    members: Sequence[str] = ()
    leading: Sequence[str] = ()
    size: int = 0

    @property
    def nodes(self) -> list[str]:
        """Every drug and target that it names."""
        return [*(node for pair in self.pairs for node in pair), *self.members, *self.leading]


def read_classes(files: Mapping[str, Path], known: Sequence[Pair]) -> list[NamedGroup]:
    """The classes of Tests 2 and 3, in the order of their tables; none where nobody brought them."""
    groups = []
    if DRUG_CLASSES in files:
        for where, row in table(files[DRUG_CLASSES], ("scheme", "class", "size_K", "leading_drugs", _DRUGS)):
            members, size = _members(row, _DRUGS, "drug", where)
            leading = _nodes(row["leading_drugs"], "drug", where)
            groups.append(NamedGroup(_class_name(2, row), _by(0, members, known), members, leading, size))
    if TARGET_CLASSES in files:
        folds = _published_folds(path_of(FOLDS, files))
        for where, row in table(files[TARGET_CLASSES], ("scheme", "class", "size_K", _TARGETS)):
            members, size = _members(row, _TARGETS, "target", where)
            name = _class_name(3, row)
            pairs = _in_folds(_by(1, members, known), folds.pop(name, {}), where)
            groups.append(NamedGroup(name, pairs, members, size=size))
        groups += [_other_class(name, own, str(files[FOLDS])) for name, own in folds.items()]
    return groups


def _other_class(name: str, folds: Folds, where: str) -> NamedGroup:
    """A class of which only the published tasks tell; of size 0 where these are cut before the last binding."""
    if max(Counter(fold for fold, _ in folds.values()).values()) >= _CUT:
        return NamedGroup(name, list(folds))
    members = list(dict.fromkeys(target for _, target in folds))
    return NamedGroup(name, _in_folds(list(folds), folds, where), members, size=len(members))


def read_diseases(files: Mapping[str, Path], known: Set[Pair], sizes: Mapping[str, int]) -> Iterator[NamedGroup]:
    """The diseases of Tests 5 and 6 with the published negatives. Members are those that these show."""
    tasks: dict[tuple[str, str], dict[str, Path]] = {}
    for name, path in files.items():
        if match := _TASK.fullmatch(name):
            tasks.setdefault((match[1], match[2]), {})[SPACES[match[3]]] = path
    for (test, disease), paths in sorted(tasks.items()):
        bindings: list[Pair] = []
        negatives = {}
        for space, path in paths.items():
            pairs = pairs_in(path, "true", "false")
            own = [pair for pair, binds in pairs.items() if binds]
            if own != (bindings := bindings or own) or not known.isdisjoint(own):
                what = f"the bindings of {disease} are not those of its other files, or are known ones"
                raise damaged(what, path)
            negatives[space] = [pair for pair, binds in pairs.items() if not binds]
        members = sorted({target for space in ("TEO", "TRO") for _, target in negatives.get(space, ())})
        yield NamedGroup(f"test{test}/{disease}", bindings, members, size=max(sizes.get(disease, 0), len(members)))
        for space, rows in negatives.items():
            yield NamedGroup(f"test{test}-{space}/{disease}", rows)


def with_groups(dataset: DtiDataset, groups: Sequence[NamedGroup]) -> DtiDataset:
    """The dataset with these groups of its drugs and targets."""
    number = {name: place for place, name in enumerate([*dataset.drug_ids, *dataset.target_ids])}
    members, pairs = [], []
    for place, group in enumerate(groups):
        members += [(place, MEMBER, number[node]) for node in group.members]
        members += [(place, LEADING, number[node]) for node in group.leading]
        pairs += [(place, number[drug], number[target] - dataset.drugs) for drug, target in group.pairs]
    return replace(
        dataset,
        group_names=tuple(group.name for group in groups),
        group_sizes=np.array([group.size for group in groups], dtype=np.int32),
        group_members=np.array(members, dtype=np.int32).reshape(-1, 3),
        group_pairs=np.array(pairs, dtype=np.int32).reshape(-1, 3),
    )


def dataset_of(name: str, known: Sequence[Pair], smiles: Texts, sequences: Texts) -> DtiDataset:
    """The dataset of bindings by name, of drugs with their structure and targets with their sequence."""
    drugs, targets = ({node: place for place, node in enumerate(nodes)} for nodes in (smiles, sequences))
    return DtiDataset(
        name=name,
        pairs=np.array([(drugs[drug], targets[target]) for drug, target in known], dtype=np.int32),
        values=np.ones(len(known)),
        drug_ids=tuple(smiles),
        target_ids=tuple(sequences),
        smiles=tuple(smiles.values()),
        sequences=tuple(sequences.values()),
    )


def _class_name(test: int, row: Mapping[str, str]) -> str:
    return f"test{test}/{row['scheme'].rpartition('/')[2]}:{row['class']}"


def _nodes(cell: str, kind: str, where: str) -> list[str]:
    return list(dict.fromkeys(short_id(text, kind, where) for text in cell.split()))


def _members(row: Mapping[str, str], column: str, kind: str, where: str) -> tuple[list[str], int]:
    """The members of a class, and how many there are with those that nobody knows."""
    members, size = _nodes(row[column], kind, where), whole(row["size_K"])
    if size is None or size < len(members):
        what = f"size_K '{row['size_K']}' is not a number of at least {len(members)}, the members of the class"
        raise CorruptData(what, where=where, todo="give the number of all members")
    return members, size


def _by(side: int, members: Sequence[str], known: Sequence[Pair]) -> list[Pair]:
    """The bindings of members, member by member; those of one keep their order."""
    of: dict[str, list[Pair]] = {member: [] for member in members}
    for pair in known:
        if pair[side] in of:
            of[pair[side]].append(pair)
    return [pair for pairs in of.values() for pair in pairs]


def _published_folds(path: Path) -> dict[str, dict[Pair, tuple[int, int]]]:
    """The fold of every binding that a published task of a class asks, and its line."""
    folds: dict[str, dict[Pair, tuple[int, int]]] = {}
    for line, (where, row) in enumerate(table(path, ("task", "fold", "drug", "target", "label"))):
        fold = whole(row["fold"])
        if fold is None or fold >= _FOLD_COUNT or row["label"] not in ("0", "1"):
            raise damaged("the fold is not 0 to 9, or the label not 0 or 1", where)
        if row["label"] == "1":
            pair = short_id(row["drug"], "drug", where), short_id(row["target"], "target", where)
            folds.setdefault(f"test3/{row['task']}", {}).setdefault(pair, (fold, line))
    return folds


def _in_folds(pairs: Sequence[Pair], folds: Folds, where: str) -> list[Pair]:
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
                what = f"{pair[0]} with {pair[1]} can't be in the fold that its tasks show"
                raise CorruptData(what, where=where, todo=f"bring {FOLDS} of the release that the classes are of")
            fitted[place] = pair
    return fitted
