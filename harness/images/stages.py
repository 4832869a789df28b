"""Building one image: a context, a call of the engine's builder with the network off, and a look inside."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.builder import BuildEngine, build
from harness.images.cards import Environment, environment_chain, epoch_of, language_of
from harness.images.context import fill_environment_context, fill_method_context, require_built
from harness.images.export import code_entries, copy_files, image_config, image_entries, stands_on
from harness.images.identity import PREFIX, code_folders, code_tree
from harness.images.receipts import CONTEXT
from harness.images.trees import TreeEntry, code_of_entries, environment_listing, listing_digest

# For whoever finds an image without the harness.
USAGE = (
    "This container reads a job at /in and writes an answer to /out. `harness job write KEY DIR` makes both and "
    "prints the line that starts it (docs/by-hand.md in the repository of Permafrost)."
)


@dataclass(frozen=True)
class EnvironmentBuild:
    """An environment's image fresh from the builder, with its entries."""

    image_id: str
    entries: dict[str, TreeEntry]
    listing: str
    seconds: float

    @property
    def tree(self) -> str:
        """The environment tree."""
        return listing_digest(self.listing)

    @property
    def sizes(self) -> list[int]:
        """The size of every file."""
        return [entry.size for entry in self.entries.values() if entry.kind == "file"]


def make_environment(
    engine: BuildEngine,
    layout: Layout,
    layers: Sequence[Environment],
    accelerator: Accelerator,
    *,
    base: str | None,
    helper: str | None = None,
    cached: bool = True,
) -> EnvironmentBuild:
    """A build of the last of `layers` on the image `base`, which holds the others; `helper` makes a part of it."""
    start = time.monotonic()
    with _context(layout) as folder:
        fill_environment_context(layout, layers, accelerator, folder)
        stage = "base" if base is None else language_of(layers)
        steps: list[tuple[str, dict[str, str]]] = [(stage, {"ACCELERATOR": accelerator})]
        if helper is not None and layers[-1].card.conda is not None:
            steps.insert(0, ("conda", {"CONDA_INSTALLER": helper}))
        elif helper is not None:
            _build_wheels(engine, folder, helper, layers, cached=cached)
        image_id = _build_steps(engine, folder, steps, layers, base=base, cached=cached)
    seconds = time.monotonic() - start
    entries = image_entries(engine, image_id)
    return EnvironmentBuild(
        image_id, entries, environment_listing(entries, image_config(engine, image_id)), seconds
    )


def make_method(
    engine: BuildEngine, layout: Layout, method: str, environment: str, *, cached: bool = True
) -> tuple[str, float]:
    """Put a method's code on an environment's image, prove that nothing else was added; returns id and seconds."""
    chain = environment_chain(layout, method)
    code = code_tree(layout, method)
    start = time.monotonic()
    with _context(layout) as folder:
        own, *sdk = code_folders(layout, method)
        fill_method_context(layout, own, sdk, folder)
        image_id = build(
            engine,
            folder,
            target="method",
            arguments={"ENVIRONMENT": environment},
            labels={
                "permafrost": "method",
                "permafrost.method": method,
                "permafrost.code": code,
                # not part of any tree, so it may say what an entry point can't
                "permafrost.usage": USAGE,
            },
            epoch=epoch_of(chain),
            cached=cached,
        )
    seconds = time.monotonic() - start
    if not stands_on(engine, image_id, environment):
        raise _wrong(method, "is not built on its environment's layers")
    if code_of_entries(code_entries(engine, image_id)) != code:
        raise _wrong(method, "does not hold the code that the repository held when it was named")
    return image_id, seconds


def tag_image(engine: BuildEngine, image_id: str, name: str) -> None:
    """Give an image a name."""
    repository, tag = name.rsplit(":", 1)
    engine.client.images.get(image_id).tag(repository, tag)


def _build_steps(
    engine: BuildEngine,
    folder: Path,
    steps: Sequence[tuple[str, dict[str, str]]],
    layers: Sequence[Environment],
    *,
    base: str | None,
    cached: bool,
) -> str:
    """The id of the last image: stages with their arguments are built in one context, each on the one before."""
    image_id = ""
    for number, (target, arguments) in enumerate(steps):
        if number:
            base = f"{PREFIX}/step-{layers[-1].name.strip('_')}:{number}"
            tag_image(engine, image_id, base)
            # What the first step installed is not installed again.
            for package in (folder / "debs").iterdir():
                package.unlink()
        below = {"BASE": base} if base is not None else {}
        image_id = build(
            engine,
            folder,
            target=target,
            arguments={**arguments, **below},
            labels={"permafrost": "environment", "permafrost.environment": layers[-1].name},
            epoch=epoch_of(layers),
            cached=cached,
        )
        if number and base is not None:
            engine.client.images.remove(base, noprune=True)
    return image_id


def _build_wheels(
    engine: BuildEngine, folder: Path, compiler: str, layers: Sequence[Environment], *, cached: bool
) -> None:
    """Build source distributions into wheels of the context; the compiler does not enter the image."""
    image_id = build(
        engine,
        folder,
        target="wheels",
        arguments={"COMPILER": compiler},
        labels={"permafrost": "environment", "permafrost.environment": layers[-1].name},
        epoch=epoch_of(layers),
        cached=cached,
    )
    require_built(folder, copy_files(engine, image_id, "opt/wheels", folder / "wheels"))
    engine.client.images.remove(image_id, force=True, noprune=True)


def _wrong(method: str, why: str) -> ImageError:
    return ImageError(
        f"the image of method '{method}' {why}",
        where="looked at right after its build",
        todo="build it again; if files were being edited meanwhile, that is why",
    )


@contextmanager
def _context(layout: Layout) -> Iterator[Path]:
    """A folder beside the store of parts, so that parts can be hard-linked into it."""
    parent = layout.cache / "images"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=CONTEXT) as name:
        yield Path(name)
