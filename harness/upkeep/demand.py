"""Which images this tree asks for, now that its methods are as they are: any other is of an earlier version."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial

from harness.base.errors import HarnessError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import environment_names
from harness.images.identity import PREFIX, environment_image_name, image_name
from harness.images.record import recorded_tree
from harness.methods.card import method_names
from harness.notebook.image import notebook_image_name

_ACCELERATORS: tuple[Accelerator, ...] = ("cpu", "cuda")


class Asked:
    """Names of images, as the repository gives them."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def may_need(self, name: str) -> bool:
        """Whether an image may be needed: asked for, or of a kind of which it can't be told."""
        repository, _, version = name.removeprefix("localhost/").rpartition(":")
        versions = self._versions.get(f"localhost/{repository}")
        return not versions or version in versions

    @cached_property
    def _versions(self) -> dict[str, set[str]]:
        """The versions that are asked for of each image's name; none where a lock or a folder is in the making."""
        layout = self._layout
        versions: dict[str, set[str]] = {}
        makers = [
            *(
                (f"{PREFIX}/{method}", partial(image_name, layout, method, accelerator))
                for method in method_names(layout)
                for accelerator in _ACCELERATORS
            ),
            *(
                (f"{PREFIX}/notebook-{method}", partial(notebook_image_name, layout, method))
                for method in method_names(layout)
            ),
            *(
                (f"{PREFIX}/environment-{name.strip('_')}", partial(_environment_name, layout, name, accelerator))
                for name in environment_names(layout)
                for accelerator in _ACCELERATORS
            ),
        ]
        for repository, name_of in makers:
            of_name = versions.setdefault(repository, set())
            # there may be no such variant, or one that was never recorded
            with suppress(HarnessError):
                of_name.add(name_of().rpartition(":")[2])
        return versions


def _environment_name(layout: Layout, name: str, accelerator: Accelerator) -> str:
    return environment_image_name(name, recorded_tree(layout, name, accelerator))
