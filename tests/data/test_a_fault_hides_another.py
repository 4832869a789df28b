"""All faults of a person's file must be told at once, each with line and column: nobody corrects it ten times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.base.errors import CorruptData
from harness.base.faults import Faults, SeveralFaults, all_faults
from harness.base.layout import Layout
from harness.data.own_dataset import new_dataset

ASSOCIATIONS = "drug,disease,label\na,pain,1\nb,flu,0\n"
MATRIX = ";pain;flu;cold\na;1;0;0\nb;0;1;0\n"
DRUGS = "drug,mass,rings\na,1,2\nb,3,4\n"
STRUCTURES = "drug,smiles,year\nA,CCO,1990\nB,CCN,2001\nC,CCC,2002\n"
BARE = re.sub(r",[^,\n]*$", "", STRUCTURES, flags=re.MULTILINE)
TRIPLETS = "head,tail,type\nA,B,raises\nB,C,lowers\nC,A,raises\n"
SEQUENCES = "target,sequence\nT,MKV\nU,MKL\n"
PAIRS = "drug,target\nA,T\nB,U\nC,T\n"
SENTENCE = (
    '{{"doc_id": "{0}", "sentence": "aspirin plus niacin", "paragraph": "", "source": null, "spans": '
    '[{{"span_id": 0, "text": "aspirin", "start": 0, "end": 7}}, '
    '{{"span_id": 1, "text": "niacin", "start": 13, "end": 19}}], "rels": []}}\n'
)
SENTENCES = "".join(map(SENTENCE.format, range(4)))


@pytest.mark.parametrize(
    ("tables", "table", "changes", "faults"),
    [
        pytest.param(
            {"associations": ASSOCIATIONS + "c,flu,1\n"},
            "associations",
            {"a,pain,1": "a,pain,yes", "c,flu,1": "c,flu", "b,flu,0\n": "b,flu,0\nb,flu,1\n"},
            ["line 2: label 'yes' is none", "line 4: the pair 'b', 'flu' is also in line 3", "line 5: 2 cells"],
            id="a list of pairs",
        ),
        pytest.param(
            {"associations": MATRIX},
            "associations",
            {"a;1;0;0": "a;1;0,5;x", "b;0;1;0": "a;0;1;0", "pain;flu": "pain;pain"},
            [
                "line 1, column 3: 'pain' is also the name of column 2",
                "line 2, column 'pain': label '0,5'",
                "line 2, column 'cold': label 'x'",
                "line 3: 'a' is also in line 2",
            ],
            id="a matrix",
        ),
        pytest.param(
            {"associations": ASSOCIATIONS, "drugs": DRUGS + "c,5,6\n"},
            "drugs",
            {"1,2": "heavy,2", "3,4": "3,4,5", "5,6": "5,many"},
            ["line 2, column 'mass': 'heavy'", "line 3: 4 cells", "line 4, column 'rings': 'many'"],
            id="features",
        ),
        pytest.param(
            {
                "associations": ASSOCIATIONS + "c,cold,1\n",
                "drugs": DRUGS,
                "diseases": "disease,f\npain,1\nflu,2\n",
            },
            "associations",
            {"b,flu": "d,flu"},
            ["line 3: drug 'd' has no line", "line 4: drug 'c' has no line", "line 4: disease 'cold' has no line"],
            id="names",
        ),
        pytest.param(
            {"interactions": TRIPLETS, "drugs": STRUCTURES},
            "drugs",
            {"CCO,1990": "CC(,soon", "CCN": "", "C,CCC": "A,CCC"},
            [
                "line 2: 'soon' is no year",
                "line 2: 'CC(' is no structure",
                "line 3: '' is no structure",
                "line 4: drug",
            ],
            id="structures",
        ),
        pytest.param(
            {"interactions": TRIPLETS, "drugs": STRUCTURES},
            "interactions",
            {"A,B,raises": "X,B,raises", "B,C,lowers": "B,B,lowers", "C,A,raises": "C,A,"},
            [
                "line 2: drug 'X' has no line",
                "line 3: drug 'B' is paired with itself",
                "line 4: a type has no name",
            ],
            id="interactions",
        ),
        pytest.param(
            {"pairs": PAIRS, "drugs": BARE, "targets": SEQUENCES},
            "pairs",
            {"A,T": "X,T", "B,U": "B,V", "C,T": "C,"},
            [
                "line 2: drug 'X' has no line",
                "line 3: target 'V' has no line",
                "line 4: the cell of 'target' is empty",
            ],
            id="targets",
        ),
        pytest.param(
            {"sentences": SENTENCES},
            "sentences",
            {'"doc_id": "0"': '"doc_id": 0', '"1", "sentence": "aspirin plus niacin"': '"1", "sentence": ""'},
            ["line 1: doc_id: 0 is not a text", "line 2: sentence: the sentence is empty"],
            id="sentences",
        ),
    ],
)
def test_all_of_a_file_are_told(
    own: Layout,
    tmp_path: Path,
    tables: Mapping[str, str],
    table: str,
    changes: Mapping[str, str],
    faults: list[str],
) -> None:
    for word, content in tables.items():
        for old, new in changes.items() if word == table else ():
            assert old in content, old
            content = content.replace(old, new, 1)
        (tmp_path / f"{word}.csv").write_text(content)
    with pytest.raises(SeveralFaults) as caught:
        new_dataset(own, "mine", {word: tmp_path / f"{word}.csv" for word in tables})
    places = caught.value.where.split("\n         ")
    assert len(places) == len(faults), caught.value
    for place, fault in zip(places, faults, strict=True):
        assert place.startswith(f"{tmp_path / table}.csv: {fault}")
    assert list(own.own_datasets.iterdir()) == [], "nothing half-made is left"


def test_one_fault_is_told_as_it_is() -> None:
    error = CorruptData("what", where="where", todo="todo")
    with pytest.raises(CorruptData) as caught, all_faults() as faults, faults.noted():
        raise error
    assert caught.value is error


def test_another_error_is_no_fault_of_the_file() -> None:
    with pytest.raises(KeyError), all_faults() as faults, faults.noted():
        raise KeyError("ours")


@pytest.mark.parametrize("count", [2, 20, 21, 1000])
def test_many_are_counted_and_the_first_are_shown_in_order(count: int) -> None:
    faults = Faults()
    for line in reversed(range(1, count + 1)):
        faults.add(CorruptData("odd", where=f"table.csv: line {line}", todo="even it"))
    with pytest.raises(SeveralFaults, match=f"^{count} faults\n") as caught:
        faults.check()
    shown = re.findall(r"line (\d+): odd", str(caught.value))
    assert shown == [str(line) for line in range(1, min(count, 20) + 1)]
    assert (f"and {count - 20} more" in str(caught.value)) == (count > 20)
    assert caught.value.todo == "even it"


def test_faults_in_faults_are_told_one_by_one() -> None:
    inner, outer = Faults(), Faults()
    for line in (1, 2):
        inner.add(CorruptData("odd", where=f"line {line}"))
    with outer.noted():
        inner.check()
    outer.add(CorruptData("odd", where="line 3"))
    with pytest.raises(SeveralFaults, match="3 faults"):
        outer.check()


def test_all_counts_that_differ_are_told(own: Layout) -> None:
    from harness.data import load_dataset
    from tests.data.own_data import write_dataset

    write_dataset(own, statistics={"positives": 0, "drugs": 4})
    with pytest.raises(
        SeveralFaults, match=r"3 drugs, not 4(.|\n)*2 positives, not 0(.|\n)*harness data accept mine"
    ):
        load_dataset(own, "mine")
