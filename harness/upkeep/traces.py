"""All that the harness keeps on a machine beside results: in every engine it used, in its cache, below /run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from harness.base.layout import Layout
from harness.engine import Engine
from harness.engine.custody import release, served_services
from harness.engine.find import serve_podman
from harness.engine.service import Service, alone, services_folder, starting, stop
from harness.engine.sockets import chosen_by_user, silence, usual_places
from harness.images.receipts import every_receipt
from harness.upkeep.clean import Removal, clean_engine, clean_folders, folder_removal


def clean_all(layout: Layout, environment: Mapping[str, str], *, dry_run: bool = False) -> Iterator[Removal]:
    """Remove all but results: what lies in engines first, then the engines that were served, then the cache."""
    for engine in engines_used(layout, environment):
        with engine:
            yield from clean_engine(layout, engine, images=True, dry_run=dry_run)
    for removal in _served(layout, environment, dry_run=dry_run):
        yield removal
        if removal.fault:
            # who uses the engine uses the cache
            return
    yield from clean_folders(layout, cache=True, dry_run=dry_run)
    if not dry_run:
        _drop_empty(layout, environment)


def _drop_empty(layout: Layout, environment: Mapping[str, str]) -> None:
    """Remove the folders of services and of the cache where nothing is left in them."""
    for folder in (services_folder(layout.cache, environment), layout.cache):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def engines_used(layout: Layout, environment: Mapping[str, str]) -> Iterator[Engine]:
    """The engines that may hold something of ours but are not the harness's own: those go with their storage."""
    own = {service.socket for service in served_services(layout.cache, environment)}
    chosen = chosen_by_user(environment)
    names = set()
    for candidate in [chosen] if chosen else usual_places(environment):
        if candidate.path not in own and not silence(candidate.path):
            engine = Engine(candidate.path)
            names.add(engine.name)
            yield engine
    # Podman's storage is the user's own, whoever served it
    built_with = {receipt.engine for receipt in every_receipt(layout)}
    if "podman" in built_with - names and (served := serve_podman(layout.cache, environment)):
        yield served


def _served(layout: Layout, environment: Mapping[str, str], *, dry_run: bool) -> Iterator[Removal]:
    """Stop the engines that were served for this cache, and remove what they stored and where they listened."""
    if not dry_run:
        release(layout, environment)
    storage = layout.cache / "engine"
    for service in served_services(layout.cache, environment):
        fault = _remove_service(service, dry_run=dry_run)
        yield Removal("engine", str(service.folder), fault=fault)
        if fault:
            # its images are being used
            return
    if storage.is_dir():
        yield folder_removal("images and build cache", storage, dry_run=dry_run)


def _remove_service(service: Service, *, dry_run: bool) -> str:
    with starting(service), alone(service) as is_alone:
        if not is_alone:
            return "another harness uses this engine"
        if not dry_run:
            # a harness that was killed leaves it running
            stop(service)
            shutil.rmtree(service.folder)
    return ""
