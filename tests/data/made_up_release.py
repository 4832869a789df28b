"""Small made-up files like those DDI-Ben's repositories release: every number of a dataset can be told by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.data.workbooks import write_workbook

# Kinds of edges stand behind those of the drug pairs: 86 of them in DrugBank's numbers, 500 in those of TWOSIDES.
KINDS = {str(number): f"pair {number}" for number in range(86)} | {"86": "binds", "87": "treats"}

GRAPH = {
    "relation2id.json": json.dumps(KINDS),
    "node2id.json": json.dumps({"DB2": 1, "DB1": 0, "DB3": 2, "DB4": 3}),
    # Hetionet's names; one compound is a drug of both datasets
    "entity_drug.json": json.dumps({"Gene::9": 5, "Compound::DB8": 4, "Compound::DB2": 6}),
    "twosides_id2drug.json": json.dumps(
        {
            "0": {"cid": "CID11", "db": "DB1"},
            "1": {"cid": "CID12", "db": ""},
            "2": {"cid": "CID13", "db": None},
        }
    ),
    "twosides_entity2id.json": json.dumps({"Disease::7": 4, "Compound::DB1": 5, "Compound::DB2": 3}),
    # head, tail, kind; the same edge twice
    "drugbank_valid_KG.txt": "0 5 86\n5 1 87\n0 5 86\n",
    "drugbank_test_KG.txt": "6 4 86\n",
    "twosides_valid_KG.txt": "0 4 501\n1 3 500\n",
    "twosides_test_KG.txt": "3 4 501\n",
}

DRUGBANK = GRAPH | {
    "drug_DDI_GPT.json": json.dumps(
        {str(number): {"name": f"Drug {number}", "description": f"Text {number}."} for number in (2, 0, 3, 1)}
    ),
    "id2smiles.json": json.dumps({"3": "c1ccccc1", "1": "CCN", "0": "CCO", "2": "CCC"}),
    "id2rel.txt": "#Drug1 may raise #Drug2\n#Drug1 may lower #Drug2\n",
    # drug 3 is in no set of the second split
    "one_train_set.txt": "0\n1\n",
    "one_valid_set.txt": "2\n",
    "one_test_set.txt": "3\n",
    "one_train.txt": "1 0 1\n0 1 0\n1 0 1\n",
    "one_valid_S0.txt": "0 1 1\n",
    "one_valid_S1.txt": "2 0 0\n",
    "one_valid_S2.txt": "",
    "one_test_S0.txt": "",
    "one_test_S1.txt": "0 3 1\n\n3 1 0\n",
    "one_test_S2.txt": "",
    "two_train_set.txt": "1\n2\n",
    "two_valid_set.txt": "",
    "two_test_set.txt": "0\n",
    "two_train.txt": "1 2 0\n",
    "two_valid_S0.txt": "",
    "two_valid_S1.txt": "",
    "two_valid_S2.txt": "",
    "two_test_S0.txt": "",
    "two_test_S1.txt": "2 0 0\n0 1 0\n",
    "two_test_S2.txt": "",
}

TWOSIDES_DRUGS = GRAPH | {
    "cid2id.json": json.dumps({"CID12": 1, "CID11": 0, "CID13": 2}),
    "two_DDI_GPT.json": json.dumps(
        {str(number): {"name": f"Compound {number}", "description": f"Words {number}."} for number in range(3)}
    ),
    "cid2smiles.json": json.dumps({"CID11": "CO", "CID12": "CN", "CID13": "CC"}),
    "twosides_dict_revised.json": json.dumps({"11": {"summary": "First."}, "12": {"summary": "Second."}}),
    "sent_additional.json": json.dumps({"12": {"description": "A better second."}}),
}


def write_files(folder: Path, texts: Mapping[str, str]) -> dict[str, Path]:
    """Files of these names and texts; where one lies by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in texts}


def write_approvals(path: Path, rows: Mapping[str, str]) -> Path:
    """The workbook of dates: a drug in column A, its date in column D, both among the shared texts."""
    cells = ["drug", "date", *(text for row in rows.items() for text in row)]
    texts = "".join(f"<si><t>{text[:2]}</t><t>{text[2:]}</t></si>" for text in cells)
    lines = "".join(
        f'<row r="{line}"><c r="A{line}" t="s"><v>{2 * line - 2}</v></c><c r="B{line}"><v>7</v></c>'
        # a wide table has columns of two letters, too
        f'<c r="D{line}" t="s"><v>{2 * line - 1}</v></c><c r="DA{line}"><v>9</v></c></row>'
        for line in range(1, len(rows) + 2)
    )
    # one without a date, as rows of the original are; a text of its own is not among the shared ones
    lines += '<row r="99"><c r="A99" t="s"><v>0</v></c><c r="E99" t="str"><v>none</v></c></row>'
    return write_workbook(path, {"Sheet1": lines}, texts=texts)
