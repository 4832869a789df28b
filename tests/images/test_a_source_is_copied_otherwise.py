"""What the front of pip asks pip's own parts, and what it copies."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.images import pip_front
from tests.images.programs import SHA


class Pip:
    """pip's own parts, as far as its front uses them."""

    def __init__(self, *, final: str = "https://h/x-1.tar.gz", local: bool = False, hashed: bool = False) -> None:
        self.did: list[object] = []
        self.final, self.found = final, True
        check = lambda path: self.did.append(("checked", Path(path).read_bytes()))  # noqa: E731
        self.link = SimpleNamespace(
            url_without_fragment="https://h/x-1.tar.gz",
            filename="x-1.tar.gz",
            is_file=local,
            has_hash=hashed,
            as_hashes=lambda: SimpleNamespace(check_against_path=check),
        )

    def module(self, name: str) -> Any:
        return {
            "pip._internal.commands": SimpleNamespace(create_command=self._command),
            "pip._vendor.packaging.specifiers": SimpleNamespace(SpecifierSet=lambda text: ("set", text)),
            "pip._internal.utils.hashes": SimpleNamespace(Hashes=lambda value: ("hashes", value)),
        }[name]

    def _command(self, name: str) -> Any:
        assert name == "download"
        return self

    @contextmanager
    def main_context(self) -> Any:
        yield

    def parse_args(self, arguments: list[str]) -> tuple[str, object]:
        self.did.append(arguments)
        return "options", None

    def get_default_session(self, options: str) -> Any:
        assert options == "options"
        return SimpleNamespace(get=self._get)

    def _build_package_finder(self, options: str, session: Any) -> Any:
        assert options == "options" and session.get == self._get
        return self

    def find_best_candidate(self, *about: object) -> Any:
        self.did.append(about)
        return SimpleNamespace(best_candidate=SimpleNamespace(link=self.link) if self.found else None)

    @contextmanager
    def _get(self, url: str, **how: object) -> Any:
        self.did.append((url, how))

        def content(size: int) -> list[bytes]:
            self.did.append(size)
            return [b"ab", b"", b"c"]

        status = lambda: self.did.append("status")  # noqa: E731
        yield SimpleNamespace(url=self.final, raise_for_status=status, iter_content=content)


@pytest.mark.parametrize("sha256", ["", SHA])
@pytest.mark.parametrize("hashed", [True, False])
def test_a_source_is_copied_byte_for_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sha256: str, hashed: bool
) -> None:
    pip = Pip(hashed=hashed)
    monkeypatch.setattr(pip_front, "import_module", pip.module)
    only = ["--sha256", sha256] if sha256 else []
    assert pip_front.main(["x==1", str(tmp_path), *only]) == "x-1.tar.gz"
    assert (tmp_path / "x-1.tar.gz").read_bytes() == b"abc"
    assert pip.did == [
        ["--no-input", "--no-cache-dir", "--ignore-requires-python", "--no-binary", "x", "x"],
        ("x", ("set", "==1"), ("hashes", {"sha256": [SHA]}) if sha256 else None),
        ("https://h/x-1.tar.gz", {"headers": {"Accept-Encoding": "identity"}, "stream": True}),
        "status",
        1 << 20,
        *([("checked", b"abc")] if hashed else []),
    ]


@pytest.mark.parametrize("final", ["http://h/x", "https://h/x", "file:///etc/passwd", "ftp://h/x"])
@pytest.mark.parametrize("local", [True, False])
def test_an_index_leads_to_no_file_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, final: str, local: bool
) -> None:
    monkeypatch.setattr(pip_front, "import_module", Pip(final=final, local=local).module)
    if local or final.startswith("http"):
        assert pip_front.main(["x==1", str(tmp_path)]) == "x-1.tar.gz"
        return
    with pytest.raises(ValueError, match=rf"^https://h/x-1\.tar\.gz leads to {final}$"):
        pip_front.main(["x==1", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_a_version_that_is_nowhere_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pip = Pip()
    pip.found = False
    monkeypatch.setattr(pip_front, "import_module", pip.module)
    with pytest.raises(ValueError, match=r"^no index has a source distribution of this version$"):
        pip_front.main(["x==1", str(tmp_path)])
