"""Images that a person's own registry hands over by digest: taken if they are what this tree asks for, or refused.

The registry is a program of the test's own that speaks as much of the distribution protocol as a pull takes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, take_image
from harness.images.identity import code_tree, image_name
from harness.images.record import recorded_tree
from tests.images.test_a_loaded_image_is_another import METHOD, elsewhere, file, forge
from tests.private_engine import UNCLOSED, private_cache, served

__all__ = ["elsewhere", "file", "private_cache", "served"]

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry:
    """Blobs by their digests, over HTTP."""

    def __init__(self) -> None:
        self._blobs: dict[str, tuple[str, bytes]] = {}
        blobs = self._blobs

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(with_content=False)

            def do_GET(self) -> None:
                self._answer(with_content=True)

            def _answer(self, *, with_content: bool) -> None:
                found = ("application/json", b"{}") if self.path == "/v2/" else blobs.get(self.path.split("/")[-1])
                kind, content = found or ("text/plain", b"")
                self.send_response(200 if found else 404)
                self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if with_content:
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def put(self, saved: Path) -> str:
        """What it calls the image in a file that an engine wrote."""
        with tarfile.open(saved) as archive:

            def read(name: str) -> bytes:
                stream = archive.extractfile(name)
                assert stream is not None
                return stream.read()

            (image,) = json.loads(read("manifest.json"))
            config = self._add(_CONFIG, read(image["Config"]))
            layers = [self._add(_LAYER, gzip.compress(read(name), 1, mtime=0)) for name in image["Layers"]]
        manifest = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": config, "layers": layers}
        return (
            f"{self.address}/permafrost/{METHOD}@{self._add(_MANIFEST, json.dumps(manifest).encode())['digest']}"
        )

    def _add(self, kind: str, content: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self._blobs[digest] = kind, content
        return {"mediaType": kind, "size": len(content), "digest": digest}

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def registry() -> Iterator[Registry]:
    registry = Registry()
    try:
        yield registry
    finally:
        registry.close()


def pull(engine: Engine, layout: Layout, reference: str) -> None:
    """As a person does it before a worker starts: pull by digest, and give it the name that this tree asks for."""
    repository, _, tag = image_name(layout, METHOD).rpartition(":")
    engine.client.images.pull(reference).tag(repository, tag)


@pytest.mark.thorough
@pytest.mark.engine
@UNCLOSED
def test_what_a_registry_hands_over_is_taken_if_it_is_the_very_image(
    registry: Registry, file: Path, served: Engine, elsewhere: Layout, tmp_path: Path
) -> None:
    name, nothing = image_name(elsewhere, METHOD), Supply([], network=False)
    forge(served, elsewhere, file, tmp_path / "evil.tar")
    good, evil = registry.put(file), registry.put(tmp_path / "evil.tar")
    assert good != evil
    pull(served, elsewhere, evil)
    with pytest.raises(ImageError, match="does not hold what its name says"):
        take_image(served, elsewhere, METHOD, supply=nothing)
    served.client.images.remove(name, force=True)
    pull(served, elsewhere, good)
    image = take_image(served, elsewhere, METHOD, supply=nothing)
    assert (image.environment_tree, image.code_tree) == (
        recorded_tree(elsewhere, METHOD),
        code_tree(elsewhere, METHOD),
    )
    assert image.built_seconds == 0 and not elsewhere.parts.exists(), "something was built or fetched"
    for reference in (good, evil):
        served.client.images.remove(reference, force=True)
