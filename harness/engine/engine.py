"""One handle on a container engine, safe to share between threads, that can be found again after a loss."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import EngineError, UsageError
from harness.engine.facts import EngineFacts, engine_name, read_facts
from harness.engine.sockets import silence

if TYPE_CHECKING:
    import docker

_CALL_SECONDS = 120
_CONNECTIONS = 64


class Engine:
    """A container engine that answered. Use it in a `with` block: leaving it releases a served engine."""

    def __init__(
        self,
        socket: Path,
        *,
        served: bool = False,
        revive: Callable[[], None] | None = None,
        release: Callable[[], None] | None = None,
    ) -> None:
        self.socket = socket
        self._served = served
        self._runtime = ""
        self._revive = revive
        self._release = release
        self._guard = threading.Lock()
        self._client: docker.DockerClient | None = None
        self.facts = self._read()

    @property
    def name(self) -> str:
        """`docker` or `podman`."""
        return self.facts.name

    @property
    def address(self) -> str:
        """The address for other programs ($DOCKER_HOST, $CONTAINER_HOST)."""
        return f"unix://{self.socket}"

    @property
    def client(self) -> docker.DockerClient:
        """The client library's handle; one per process, with room for many threads."""
        with self._guard:
            if self._client is None:
                self._client = _connect(self.address)
            return self._client

    @property
    def api(self) -> Any:
        """The client's lower level, one method per request; its type stubs are incomplete."""
        return self.client.api

    def reference(self, name: str) -> str:
        """The engine's own spelling of an image name: Podman keeps local images under `localhost/`."""
        first = name.partition("/")[0]
        local = "/" not in name or not ("." in first or ":" in first or first == "localhost")
        return f"localhost/{name}" if self.name == "podman" and local else name

    def image_id(self, name: str) -> str | None:
        """The id behind an image name or id; None where the engine has no such image."""
        import docker.errors

        reference = name if name.startswith("sha256:") else self.reference(name)
        try:
            identity = str(self.api.inspect_image(reference)["Id"])
        except docker.errors.ImageNotFound:
            return None
        return identity if identity.startswith("sha256:") else f"sha256:{identity}"

    def use_runtime(self, name: str) -> None:
        """Start containers with another of the engine's runtimes from now on; refused if it has no such."""
        info = self.api.info()
        known = sorted(info.get("Runtimes") or {})
        if self.name == "podman":
            # its interface takes none per container
            known = [str(info.get("DefaultRuntime"))]
        if name not in known:
            todo = "name one of these, or tell the engine about it (Docker: daemon.json; Podman: containers.conf)"
            raise UsageError(
                f"{self.name} starts no containers with the runtime '{name}'",
                where=f"its runtimes at {self.socket}: {', '.join(known) or 'none'}",
                todo=todo,
            )
        self._runtime = name
        self.facts = replace(self.facts, runtime=name)

    def answers(self) -> bool:
        """Whether the engine answers now."""
        return not silence(self.socket)

    def renew(self, *, patience: float = 60.0) -> None:
        """Connect again after a loss: wait for the engine's socket, or serve the engine anew if it was ours."""
        deadline = time.monotonic() + patience
        while not self.answers():
            if self._revive is not None:
                self._revive()
            elif time.monotonic() > deadline:
                raise EngineError(
                    f"the {self.name} engine went away and did not come back within {patience:.0f} s",
                    where=str(self.socket),
                    todo="start it again; finished runs are kept and the rest resumes",
                )
            else:
                time.sleep(0.2)
        with self._guard:
            stale, self._client = self._client, None
        if stale is not None:
            with suppress(OSError):
                stale.close()
        self.facts = self._read()

    def close(self) -> None:
        """Release the connections, and the engine itself if it was served by us and nobody else uses it."""
        with self._guard:
            client, self._client = self._client, None
            release, self._release = self._release, None
        if client is not None:
            client.close()
        if release is not None:
            release()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self) -> EngineFacts:
        import docker.errors

        try:
            api = self.api
            version, info = api.version(), api.info()
            is_rootless_podman = engine_name(version) == "podman" and info.get("Rootless")
            delegated = _delegated_to_podman(api) if is_rootless_podman else None
        except (docker.errors.DockerException, OSError) as error:
            raise EngineError(
                f"the engine does not describe itself: {error}", where=str(self.socket), todo="restart the engine"
            ) from error
        return read_facts(
            version,
            info,
            api_version=str(api.api_version),
            socket=str(self.socket),
            served=self._served,
            runtime=self._runtime,
            delegated=delegated,
        )


def _connect(address: str) -> docker.DockerClient:
    import docker
    import docker.errors

    try:
        return docker.DockerClient(
            base_url=address, version="auto", timeout=_CALL_SECONDS, max_pool_size=_CONNECTIONS
        )
    except docker.errors.DockerException as error:
        raise EngineError(
            f"the engine does not answer: {error}", where=address, todo="start it, or name another in $DOCKER_HOST"
        ) from error


def _delegated_to_podman(api: docker.APIClient) -> frozenset[str]:
    """The controllers a rootless Podman may use, from its own interface."""
    answer = api.get(f"{api.base_url}/v4.0.0/libpod/info", timeout=_CALL_SECONDS)
    if answer.status_code != 200:
        return frozenset()
    return frozenset(answer.json().get("host", {}).get("cgroupControllers") or ())
