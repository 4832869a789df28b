"""What a manifest and a dataset of one's own are refused for, word for word."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.base.layout import Layout
from harness.data.manifest import SourceFile, mirror_path, plain_name
from harness.data.own_dataset import accept_changes, new_dataset
from tests.data.told import put, told

LIST = "drug,disease,label\na,x,1\nb,y,-1\nb,x,0\n"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "/a"])
def test_a_name_that_leads_elsewhere_is_none(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a plain file name$") as refused:
        plain_name(name)
    assert str(refused.value) == f"'{name}' is not a plain file name"
    assert [plain_name(one) for one in ("a", "...", ".a", "a b")] == ["a", "...", ".a", "a b"]


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://example.org/a/b.txt", "example.org/a/b.txt"),
        ("http://example.org:80//a//b%20c?x=1#y", "example.org/a/b c"),
        ("https://raw.githubusercontent.com/o/r/main/f", "github.com/o/r/main/f"),
        ("https://github.com/o/r/raw/main/f", "github.com/o/r/main/f"),
        ("https://github.com/o/r/raw", "github.com/o/r/raw"),
        ("https://github.com/o/r/blob/raw/f", "github.com/o/r/blob/raw/f"),
        ("https://gitlab.com/o/r/raw/main/f", "gitlab.com/o/r/raw/main/f"),
    ],
)
def test_a_file_of_a_mirror_lies_where_its_address_says(url: str, place: str) -> None:
    assert mirror_path(url) == Path(place)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        *(
            (url, "is not an http or https URL")
            for url in ("ftp://h/a", "/a", "https:///a", "https://../a", "h/a")
        ),
        *(
            (f"https://h{path}", "does not name a file")
            for path in ("", "/", "/a/../b", "/./a", "/a%2fb", "/a%00", "/%2e%2e/a")
        ),
    ],
)
def test_an_address_that_leads_elsewhere_is_none(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        mirror_path(url)
    assert str(refused.value) == f"'{url}' {why}"


def test_a_file_is_known_whole_or_not() -> None:
    sha = "a" * 64
    assert SourceFile(name="a", sha256=sha, bytes=0).recorded and not SourceFile(name="a").recorded
    known = SourceFile(name="a", urls=["https://h/a"]).with_content({"bytes": 3, "sha256": sha})
    assert (known.name, known.urls, known.bytes, known.sha256) == ("a", ["https://h/a"], 3, sha)
    for fields, why in (
        ({"bytes": 3}, "sha256: goes with bytes; give both, or none for a file that nobody could see"),
        ({"sha256": "a" * 63}, "not a sha256: 64 digits 0-9 a-f are needed"),
        ({"sha256": "A" * 64}, "not a sha256: 64 digits 0-9 a-f are needed"),
        ({"sha256": sha, "bytes": -1}, "greater than or equal to 0"),
        ({"urls": ["ftp://h/a"]}, "'ftp://h/a' is not an http or https URL"),
    ):
        with pytest.raises(ValidationError) as refused:
            SourceFile.model_validate({"name": "a", **fields})
        assert why in str(refused.value)


def test_a_dataset_of_ones_own_is_refused_with_what_to_do(own: Layout, tmp_path: Path) -> None:
    table = put(tmp_path / "t" / "a.csv", LIST)
    other = put(tmp_path / "u" / "a.csv", LIST)

    def new(name: str = "mine", **tables_of: Any) -> object:
        return new_dataset(own, name, tables_of or {"associations": table})

    assert told(lambda: new(associations=tmp_path)) == [
        ("a folder is no table", f"--associations {tmp_path}", "name the file in it")
    ]
    todo = "give its whole path, or that from the folder you are in"
    assert told(lambda: new(associations=tmp_path / "no")) == [
        ("there is no such file", f"--associations {tmp_path / 'no'}", todo)
    ]
    for name in ("dataset.toml", "first_seen.json", "splits.csv", ".hidden", "a\nb.csv"):
        path = put(tmp_path / "v" / name, LIST)
        assert told(partial(new, associations=path)) == [
            ("a table can't have this name", f"--associations {path!r}", "rename the file")
        ]
    assert told(lambda: new(associations=table, drugs=other)) == [
        ("two files have one name", f"{table}, {other}", "rename one: both are copied")
    ]
    assert told(lambda: new("9")) == [
        (
            "'9' is not a name: small letters, digits and _ only",
            "harness data new",
            "begin with a letter: my_data, for example",
        )
    ]
    folder = own.own_datasets / "mine"
    folder.mkdir(parents=True)
    assert told(new) == [("there is such a folder already", str(folder), "give another name, or remove it")]
    folder.rmdir()
    new()
    assert told(new) == [
        (
            "there is a dataset 'mine' already",
            str(folder),
            "give another name; after a change of its files, `harness data accept mine`",
        )
    ]
    assert (folder / ".gitignore").read_text() == "# a person's own data: never committed by accident\n*\n"
    (folder / "a.csv").unlink()
    assert told(lambda: accept_changes(own, "mine")) == [
        ("a file is not here", str(folder / "a.csv"), "put it back")
    ]
