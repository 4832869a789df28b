"""The components of an image: every part its locks put into it, with its name for others, licence and needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import Environment, environment_chain, epoch_of, layers_of
from harness.images.context import parts_of
from harness.images.identity import combined, wanted_image
from harness.images.locks import Part, canonical_name, read_debian, read_wheels
from harness.images.record import variant_of
from harness.materials.licences import expression_of
from harness.materials.notices import Notice, read_notices

_CONDA = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)-(?P<build>[^-]+)\.(?P<type>conda|tar\.bz2)")


@dataclass(frozen=True)
class ImageSubject:
    """An image as others are told of it: its name and its trees. An environment alone has no code."""

    name: str
    image: str
    environment_tree: str
    code_tree: str
    # seconds since 1970: the newest time stamp in it
    epoch: int

    @property
    def tree(self) -> str:
        """The tree of all that is in it."""
        return combined(self.environment_tree, self.code_tree) if self.code_tree else self.environment_tree


@dataclass(frozen=True)
class Component:
    """One part of an image."""

    part: Part
    name: str
    version: str
    # https://github.com/package-url/purl-spec
    purl: str
    environment: str
    # an SPDX expression; empty where the part does not say
    licence: str = ""
    # why there is none
    remark: str = ""
    # purls of other components; None where the part was never seen
    needs: tuple[str, ...] | None = None
    _notice: Notice | None = field(default=None, repr=False)


def subject_of(layout: Layout, name: str, accelerator: Accelerator = "cpu") -> ImageSubject:
    """The image of a method, or of an environment."""
    image, environment, code = wanted_image(layout, name, accelerator)
    epoch = epoch_of(environment_chain(layout, name))
    return ImageSubject(name=name, image=image, environment_tree=environment, code_tree=code, epoch=epoch)


def components_of(layout: Layout, name: str, accelerator: Accelerator = "cpu") -> list[Component]:
    """Every part that the locks of an environment's chain put into its image, sorted by purl."""
    found: dict[str, Component] = {}
    for environment in layers_of(environment_chain(layout, name)):
        notices = read_notices(environment)
        for component in _own(environment, variant_of(environment, accelerator), notices):
            found.setdefault(component.purl, component)
    return _with_needs(sorted(found.values(), key=lambda component: component.purl))


def _own(environment: Environment, accelerator: Accelerator, notices: Mapping[str, Notice]) -> Iterable[Component]:
    for backend in environment.backends:
        path = environment.lock_path(backend, accelerator)
        if backend == "debian":
            suite = environment.card.debian.suite
            for package in read_debian(path):
                notice = notices.get(package.sha256)
                source = notice.source if notice is not None else ""
                qualifiers = {"arch": package.architecture, "distro": suite, "upstream": source}
                purl = _purl("deb/debian", package.name, package.version, qualifiers)
                yield _component(package.part, package.name, package.version, purl, environment, notice)
        elif backend == "wheels":
            # what only installs the others is in no image
            for wheel in (one for one in read_wheels(path) if not one.installer):
                purl = _purl("pypi", canonical_name(wheel.name), wheel.version)
                notice = notices.get(wheel.sha256)
                yield _component(wheel.part, wheel.name, wheel.version, purl, environment, notice)
        else:
            for part in parts_of(environment, accelerator):
                if part.kind == "conda" and (match := _CONDA.fullmatch(part.file)):
                    channel, _, subdir = part.path.rpartition("/")[0].rpartition("/")
                    qualifiers = {"build": match["build"], "channel": channel, "subdir": subdir}
                    purl = _purl("conda", match["name"], match["version"], {**qualifiers, "type": match["type"]})
                    yield _component(part, match["name"], match["version"], purl, environment, None)


def _component(
    part: Part, name: str, version: str, purl: str, environment: Environment, notice: Notice | None
) -> Component:
    licence, remark = "", ""
    if notice is None:
        remark = "the part was not fetched when notices were recorded"
    elif notice.licences:
        licence = expression_of(notice.licences, "debian" if part.kind == "debian" else "pypi")
    elif notice.refers:
        remark = f"its copyright file is free text, and refers to {', '.join(notice.refers)}"
    else:
        remark = "it names no licence that a program can read"
    return Component(part, name, version, purl, environment.name, licence, remark, None, notice)


def _with_needs(components: Sequence[Component]) -> list[Component]:
    """The components, with what they need among each other; what was left out of an image is no component."""
    names: dict[str, list[str]] = {}
    for component in components:
        names.setdefault(_key(component.part.kind, component.name), []).append(component.purl)
    for component in components:
        for name in component._notice.provides if component._notice is not None else []:
            names.setdefault(_key("debian", name), []).append(component.purl)
    return [replace(component, needs=_needs(component, names)) for component in components]


def _needs(component: Component, names: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    if component._notice is None:
        return None
    purls: set[str] = set()
    for alternatives in component._notice.needs:
        keys = (_key(component.part.kind, name) for name in alternatives)
        purls.update(next((names[key] for key in keys if key in names), []))
    return tuple(sorted(purls))


def _key(kind: str, name: str) -> str:
    return f"debian {name}" if kind == "debian" else f"python {canonical_name(name)}"


def _purl(kind: str, name: str, version: str, qualifiers: Mapping[str, str] | None = None) -> str:
    text = "&".join(
        f"{key}={quote(value, safe=':')}" for key, value in sorted((qualifiers or {}).items()) if value
    )
    # `purl` leaves colons as they are
    return f"pkg:{kind}/{quote(name, safe='')}@{quote(version, safe=':')}" + (f"?{text}" if text else "")
