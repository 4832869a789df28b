from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import ImageError
from harness.images import builder


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(builder, "_USUAL", ())
    builder.docker_with_buildkit.cache_clear()
    yield
    builder.docker_with_buildkit.cache_clear()


def _client(folder: Path, *, version: str, buildx: bool) -> str:
    folder.mkdir()
    path = folder / "docker"
    path.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = buildx ]; then exit {0 if buildx else 1}; fi\n'
        f'if [ "$1" = version ]; then echo {version}; exit 1; fi\n'
    )
    path.chmod(0o755)
    return str(path)


def test_a_new_client_without_buildx_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _client(tmp_path / "a", version="28.2.2", buildx=False)
    good = _client(tmp_path / "b", version="20.10.24", buildx=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:/usr/bin:/bin")
    assert builder.docker_with_buildkit() == good


def test_a_new_client_with_buildx_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = _client(tmp_path / "a", version="28.2.2", buildx=True)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:/usr/bin:/bin")
    assert builder.docker_with_buildkit() == good


def test_where_none_can_build_the_message_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = [_client(tmp_path / name, version="28.2.2", buildx=False) for name in ("a", "b")]
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/none:{tmp_path}/b:{tmp_path}/a")
    with pytest.raises(ImageError, match="BuildKit") as caught:
        builder.docker_with_buildkit()
    assert caught.value.where == ", ".join(bad) and "buildx" in caught.value.todo
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="BuildKit") as caught:
        builder.docker_with_buildkit()
    assert caught.value.where == "no `docker` on PATH"


def test_without_podman_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="Podman"):
        builder._podman("unix:///nowhere")
