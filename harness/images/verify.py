"""Proof, on demand, that an image is what the repository says: every file, every package, and a second build."""

from __future__ import annotations

import re
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.vocabulary import Accelerator
from harness.images.build import compare_with_record, ensure_environment, ensure_image
from harness.images.builder import BuildEngine
from harness.images.cards import Environment, environment_chain, layers_of
from harness.images.conda import read_conda
from harness.images.deb import parse_fields
from harness.images.export import copy_files, image_config, image_entries
from harness.images.fetch import Supply
from harness.images.identity import PREFIX, combined, is_method
from harness.images.lock import held_packages
from harness.images.locks import canonical_name, read_wheels
from harness.images.preparation import needed_layers, parts_of_layers
from harness.images.receipts import building
from harness.images.record import read_record, variant_of
from harness.images.stages import EnvironmentBuild, make_environment, make_method, tag_image
from harness.images.trees import Entries, code_of_entries, differing, environment_listing, listing_digest

_MOST_NAMES = 8
_WHEEL_FACTS = re.compile(r"opt/venv/lib/[^/]+/site-packages/([^/]+)-([^-/]+)\.dist-info")
_CONDA_FACTS = re.compile(r"opt/conda/conda-meta/([^/]+)\.json")
_CONDA_SUFFIX = r"\.(tar\.bz2|conda)$"
_CHECK_SECONDS = 60


@dataclass(frozen=True)
class ImageFinding:
    """One thing that was checked of one image; `fault` is empty where it holds."""

    image: str
    check: str
    detail: str
    fault: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {**asdict(self), "ok": not self.fault}


def verify_images(
    engine: BuildEngine,
    layout: Layout,
    names: Sequence[str],
    accelerator: Accelerator = "cpu",
    *,
    rebuild: bool = False,
    supply: Supply | None = None,
) -> Iterator[ImageFinding]:
    """Check the images of methods and environments, one finding after the other."""
    for name in names:
        yield from _verify_one(engine, layout, name, accelerator, supply)
    if rebuild:
        yield from _rebuild(engine, layout, names, accelerator, supply or Supply())


def installed_differences(
    layout: Layout, name: str, entries: Entries, status: str, accelerator: Accelerator
) -> list[str]:
    """How what is installed in an image differs from its locks; empty where it does not."""
    chain = environment_chain(layout, name)
    locked = {f"{p.name} {p.version} {p.architecture}" for p in held_packages(chain)}
    installed = set()
    for paragraph in status.split("\n\n"):
        fields = parse_fields(paragraph)
        if fields.get("Status", "").endswith(" installed"):
            installed.add(f"{fields['Package']} {fields['Version']} {fields['Architecture']}")
    for environment in layers_of(chain):
        if environment.card.wheels is not None:
            wheels = read_wheels(environment.lock_path("wheels", variant_of(environment, accelerator)))
            locked |= {f"{canonical_name(w.name)} {w.version} wheel" for w in wheels if not w.installer}
        if environment.card.conda is not None:
            packages = read_conda(environment.lock_path("conda", accelerator))
            locked |= {f"{re.sub(_CONDA_SUFFIX, '', package.file)} conda" for package in packages}
    for path in entries:
        if match := _WHEEL_FACTS.fullmatch(path):
            installed.add(f"{canonical_name(match[1])} {match[2]} wheel")
        elif match := _CONDA_FACTS.fullmatch(path):
            installed.add(f"{match[1]} conda")
    missing = [f"{item} is locked but not installed" for item in sorted(locked - installed)]
    return missing + [f"{item} is installed but not locked" for item in sorted(installed - locked)]


def run_check(engine: BuildEngine, image: str, command: Sequence[str]) -> str:
    """Why an environment's own check fails in a hardened container; empty where it succeeds."""
    from docker.errors import APIError
    from requests import RequestException

    settings: Mapping[str, Any] = {
        "entrypoint": [command[0]],
        "command": list(command[1:]),
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "tmpfs": {"/tmp": "size=64m"},
        "labels": {"permafrost": "check"},
    }
    try:
        container = engine.client.containers.create(image, **settings)
    except APIError as error:
        return str(error.explanation)
    try:
        container.start()
        code = container.wait(timeout=_CHECK_SECONDS)["StatusCode"]
        # Read at the end and at once: Podman's stream of a container that ended early may never end.
        output = container.logs(stream=False, follow=False).decode(errors="replace").strip()
    except APIError as error:
        return str(error.explanation)
    except RequestException:
        return f"no answer within {_CHECK_SECONDS} s"
    finally:
        container.remove(force=True)
    return f"exit {code}: {output[-400:]}" if code else ""


def _verify_one(
    engine: BuildEngine, layout: Layout, name: str, accelerator: Accelerator, supply: Supply | None
) -> Iterator[ImageFinding]:
    of_method = is_method(layout, name)
    ensure = ensure_image if of_method else ensure_environment
    check = _Timed(name)
    try:
        image = ensure(engine, layout, name, accelerator, supply=supply)
    except ImageError as error:
        yield check("image", "exists and is the one that was verified when it was built", _text_of(error))
        return
    yield check("image", f"{image.image_id[7:19]} is the one that was verified when it was built")

    entries = image_entries(engine, image.name)
    listing = environment_listing(entries, image_config(engine, image.name))
    environment = layers_of(environment_chain(layout, name))[-1]
    variant = variant_of(environment, accelerator)
    record = read_record(environment, variant)
    assert record is not None  # ensure_*() would have refused
    fault = ""
    try:
        compare_with_record(environment, variant, listing, record)
    except ImageError as error:
        fault = _text_of(error)
    yield check(
        "environment tree", f"{listing_digest(listing)[:16]}, {counted(len(entries), 'entry', 'entries')}", fault
    )
    if of_method:
        code = code_of_entries(entries)
        fault = "" if code == image.code_tree else f"the image holds {code[:16]}, locked is {image.code_tree[:16]}"
        yield check("code tree", f"{code[:16]}; image tree {combined(image.environment_tree, code)[:16]}", fault)
    faults = installed_differences(layout, name, entries, _dpkg_status(engine, image.name), accelerator)
    yield check("installed", "equals the locks", "; ".join(faults[:_MOST_NAMES]))
    for link in environment_chain(layout, name):
        if link.card.check:
            yield check("runs", f"check of {link.name}", run_check(engine, image.name, link.card.check))


def _rebuild(
    engine: BuildEngine, layout: Layout, names: Sequence[str], accelerator: Accelerator, supply: Supply
) -> Iterator[ImageFinding]:
    """Build every layer again from nothing, each on its rebuilt parent, and compare with what is there."""
    rebuilds: dict[str, str] = {}
    try:
        for environment, variant in needed_layers(layout, names, accelerator):
            first = ensure_environment(engine, layout, environment.name, accelerator, supply=supply)
            supply.fetch(layout, parts_of_layers([(environment, variant)]))
            check = _Timed(environment.name)
            with building(layout):
                build = _make_again(engine, layout, environment, variant, rebuilds)
            # Two verifications at once must not take each other's images away.
            tag = f"{build.tree[:16]}-{uuid.uuid4().hex[:8]}"
            rebuilds[environment.name] = f"{PREFIX}/rebuilt-{environment.name.strip('_')}:{tag}"
            tag_image(engine, build.image_id, rebuilds[environment.name])
            fault = ""
            if build.tree != first.environment_tree:
                paths = differing(image_entries(engine, first.name), build.entries)
                fault = f"{counted(len(paths), 'path')} with differences: {', '.join(paths[:_MOST_NAMES])}"
            yield check("rebuilt", f"equal tree {build.tree[:16]}, built in {build.seconds:.1f} s", fault)
        for name in names:
            if is_method(layout, name):
                check = _Timed(name)
                below = rebuilds[layers_of(environment_chain(layout, name))[-1].name]
                with building(layout):
                    image_id, _ = make_method(engine, layout, name, below, cached=False)
                code = code_of_entries(image_entries(engine, image_id))
                engine.client.images.remove(image_id, force=True)
                yield check("rebuilt", f"equal code tree {code[:16]}")
    finally:
        for image in reversed(rebuilds.values()):
            engine.client.images.remove(image, force=True)


def _make_again(
    engine: BuildEngine,
    layout: Layout,
    environment: Environment,
    accelerator: Accelerator,
    rebuilds: Mapping[str, str],
) -> EnvironmentBuild:
    layers = layers_of(environment_chain(layout, environment.name))
    helper = environment.helper
    return make_environment(
        engine,
        layout,
        layers,
        accelerator,
        base=rebuilds[layers[-2].name] if layers[1:] else None,
        helper=rebuilds[helper] if helper is not None else None,
        cached=False,
    )


def _dpkg_status(engine: BuildEngine, image: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        (path,) = copy_files(engine, image, "var/lib/dpkg/status", Path(folder))
        return path.read_text(encoding="utf-8")


class _Timed:
    """Makes findings, each with the seconds since the one before."""

    def __init__(self, image: str) -> None:
        self._image = image
        self._since = time.monotonic()

    def __call__(self, check: str, detail: str, fault: str = "") -> ImageFinding:
        now = time.monotonic()
        finding = ImageFinding(self._image, check, detail, fault, round(now - self._since, 1))
        self._since = now
        return finding


def _text_of(error: ImageError) -> str:
    return f"{error.what} ({error.where})"
