"""Method cards: what `methods/NAME/method.toml` says about a predictor, validated, and where to find it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, field_validator, model_validator

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import NamedManifest, Strict, load_named
from harness.base.repeats import repeated
from harness.base.unknown_names import unknown_name
from harness.base.vocabulary import Accelerator

Language = Literal["python", "octave", "r", "java"]


def _has_an_end(value: Scalar) -> Scalar:
    """A key is made of parameters, and holds no other number."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no finite number")
    return value


Scalar = Annotated[bool | int | float | str, AfterValidator(_has_an_end)]

_SIZE = re.compile(r"(\d+)\s*(MiB|GiB)")
_UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}
# Allowed for CUDA's libraries and the driver's own state, above what the method takes; on no device measured.
_CUDA_MEMORY = 4 << 30


class Paper(Strict):
    """Where a method was published."""

    title: str
    authors: str
    year: int
    venue: str = ""
    doi: str = ""


class Origin(Strict):
    """Where the original implementation lies; nothing is fetched from there."""

    repository: str
    commit: str = ""
    licence: str = "none stated"


class Resources(Strict):
    """The limits of one run."""

    cpus: int = Field(default=1, ge=1)
    memory: str = "2GiB"
    seconds: int = Field(default=3600, ge=1)
    processes: int = Field(default=64, ge=8)
    output: str = "1GiB"
    gpus: int = Field(default=0, ge=0)

    @field_validator("memory", "output")
    @classmethod
    def _is_a_size(cls, text: str) -> str:
        if not _SIZE.fullmatch(text):
            raise ValueError(f"'{text}' is not a size such as '512MiB' or '2GiB'")
        return text

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
        return _bytes(self.memory)

    @property
    def output_bytes(self) -> int:
        """How much a run may write to /out."""
        return _bytes(self.output)

    def on_a_gpu(self) -> Resources:
        """The same with one GPU, and the memory that CUDA's own libraries take."""
        memory = f"{(self.memory_bytes + _CUDA_MEMORY) >> 20}MiB"
        return self.model_copy(update={"gpus": 1, "memory": memory})


class Variant(Strict):
    """A named way to run a method."""

    summary: str
    like: str = Field(default="", description="the variant above whose parameters it has, but for its own")
    parameters: dict[str, Scalar] = {}
    weights: bool | str = Field(
        default=False, description="whether it reads the files that weights.toml, or weights.NAME.toml, names"
    )
    resources: Resources | None = Field(default=None, description="the limits of its runs, where they are its own")


class Refusal(Strict):
    """A dataset this method declares that it cannot be run on: in all its variants, where none is named."""

    dataset: str
    variant: str = ""
    reason: str


class Tolerance(Strict):
    """How far an array may be from its golden."""

    absolute: FiniteFloat = 0.0
    relative: FiniteFloat = 0.0
    # what of the run it is compared with, where the golden has its own name for it
    of: str = ""
    # the golden holds the same run several times, one per row
    repeated: bool = False
    # it bounds the mean difference: where a long computation amplifies rounding, the largest says nothing
    mean: bool = False
    # relative to each element, not to the largest
    each: bool = False
    # the least correlation with the golden, in place of bounds of the difference
    correlation: FiniteFloat = 0.0
    # columns are the same with the other sign, as those of eigenvectors are
    either_sign: bool = False


class ParityTable(Strict):
    """One family of golden cases: which arrays become inputs, which are compared, how closely."""

    cases: str
    task: str = "predict"
    variant: str = "published"
    when: Literal["always", "no-negatives", "negatives"] = "always"
    parameters: dict[str, Scalar] = {}
    # row r of what is compared was made with this parameter r higher
    rows: str = ""
    inputs: dict[str, str] = {}
    # without which kernels are chosen that answer otherwise than the golden's did: the case can't be met there
    processor: list[str] = []
    # or, for a task that answers with traces alone: which arrays of a golden the method is handed, as they are
    given: list[str] = []
    # beside these, by name: files below a folder that --mirror names, NumPy arrays or tables of text
    mirrored: dict[str, str] = {}
    compare: dict[str, Tolerance]
    # arrays of such a golden that the method neither reads nor computes, each with the reason; any other fails it
    absent: dict[str, Annotated[str, Field(min_length=1)]] = {}
    reason: str = ""


class MethodCard(NamedManifest):
    """`method.toml`: everything the harness knows of a method."""

    title: str
    language: Language
    benchmarks: list[str]
    category: str
    summary: str
    control: bool = False
    paper: Paper | None = None
    origin: Origin | None = None
    inputs: list[str]
    uses: list[str] = Field(default=[], description="folders of methods/_shared/ that its image holds too")
    deterministic: bool = True
    cuda: bool = Field(default=False, description="whether it computes on a GPU where its container has one")
    gpu_tolerance: float = Field(
        default=0.01,
        gt=0,
        allow_inf_nan=False,
        description="how far a metric on a GPU may be from the CPU's, as a part of it, or of 1 if it is less",
    )
    # why the score of a pair depends on which others are asked for, where the original's does
    asked_together: str = ""
    # why its answer depends on the order of drugs, diseases or items, so that it finds them in the published one;
    # the runs of all others find them in a secret order
    published_order: str = ""
    resources: Resources = Resources()
    variants: dict[str, Variant]
    refuses: list[Refusal] = []
    # parameters that the self-test changes, because its problems are small
    self_test: dict[str, Scalar] = {}
    parity: list[ParityTable] = []
    # why there is nothing of the original to hold it to, where its original can't be run
    without_golden: str = ""

    @field_validator("benchmarks")
    @classmethod
    def _names_some_once(cls, names: list[str]) -> list[str]:
        if not names:
            # its self-test would have nothing to ask, and pass
            raise ValueError("name at least one")
        if twice := sorted(repeated(names)):
            raise ValueError(f"named twice: {', '.join(twice)}")
        return names

    @field_validator("variants")
    @classmethod
    def _complete(cls, variants: dict[str, Variant]) -> dict[str, Variant]:
        complete: dict[str, Variant] = {}
        for name, variant in variants.items():
            if variant.like and variant.like not in complete:
                raise ValueError(f"{name}.like: no variant '{variant.like}' stands above it")
            base = complete[variant.like].parameters if variant.like else variant.parameters
            if strange := sorted(set(variant.parameters) - set(base)):
                raise ValueError(f"{name}.parameters: '{variant.like}' has no {', '.join(strange)}")
            complete[name] = variant.model_copy(update={"parameters": {**base, **variant.parameters}})
        return complete

    @model_validator(mode="after")
    def _has_a_paper_unless_control(self) -> MethodCard:
        if "published" not in self.variants:
            raise ValueError("variants: 'published' is missing; it is the default")
        if not self.control and self.paper is None:
            raise ValueError("paper: is missing; only a control may have none")
        return self

    def variant(self, name: str) -> Variant:
        """The variant called `name`."""
        if name not in self.variants:
            raise UsageError(
                f"method '{self.name}' has no variant '{name}'",
                todo=f"choose one of: {', '.join(sorted(self.variants))}",
            )
        return self.variants[name]

    def weights_of(self, variant: str) -> str:
        """The pretrained model that a variant reads: METHOD or METHOD:NAME; empty for none."""
        own = self.variant(variant).weights
        return f"{self.name}:{own}" if isinstance(own, str) else self.name if own else ""

    def of_variant(self, name: str, accelerator: Accelerator = "cpu") -> MethodCard:
        """The card with the limits of one variant's runs."""
        own = self.variant(name).resources or self.resources
        return self.model_copy(update={"resources": own.on_a_gpu() if accelerator == "cuda" else own})

    @property
    def runs_everywhere(self) -> str:
        """The variant that a self-test can run: the first that needs no weights."""
        return next((name for name, one in self.variants.items() if not one.weights), "published")

    def refusal(self, dataset: str, variant: str) -> str | None:
        """Why this variant can't be run on `dataset`, if the card says so."""
        return next(
            (one.reason for one in self.refuses if one.dataset == dataset and one.variant in ("", variant)), None
        )


def method_names(layout: Layout) -> list[str]:
    """All methods: every folder under methods/ that has a card."""
    return sorted(path.parent.name for path in layout.methods.glob("*/method.toml"))


def load_method(layout: Layout, name: str) -> MethodCard:
    """The card of one method."""
    path = layout.methods / name / "method.toml"
    if not path.is_file():
        raise unknown_name("method", name, method_names(layout), where=layout.methods)
    with plain_faults(path, MethodCard):
        return load_named(path, MethodCard)


def named_method(layout: Layout, text: str, variant: str) -> tuple[MethodCard, str]:
    """The card of what a person names as NAME or NAME/VARIANT, and the variant: `variant` where they name none."""
    name, _, own = text.partition("/")
    return load_method(layout, name), own or variant


def refuse_twice(named: Iterable[tuple[MethodCard, str]]) -> None:
    """Refuse a variant of a method that is there more than once."""
    if twice := repeated(f"{card.name}/{variant}" for card, variant in named):
        todo = "name each once; variants as NAME/VARIANT"
        raise UsageError(f"{twice[0]} is named twice", where="--method", todo=todo)


def load_methods(layout: Layout, benchmark: str | None = None) -> list[MethodCard]:
    """All cards, or those of one benchmark; controls last."""
    cards = [load_method(layout, name) for name in method_names(layout)]
    return in_order(card for card in cards if benchmark is None or benchmark in card.benchmarks)


def in_order(cards: Iterable[MethodCard]) -> list[MethodCard]:
    """As tables list them: by name, controls last."""
    return sorted(cards, key=lambda card: (card.control, card.name))


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text)
    assert match is not None  # validated when the card was read
    return int(match[1]) * _UNITS[match[2]]


def merged_parameters(card: MethodCard, variant: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The variant's parameters with a person's changes; an unknown name or a value of another type is refused."""
    parameters: dict[str, Any] = dict(card.variant(variant).parameters)
    for name, value in changes.items():
        if name not in parameters:
            raise unknown_name("parameter", name, sorted(parameters), where=f"method {card.name}")
        default = parameters[name]
        # a whole number may stand for a float; otherwise types must be equal
        if type(value) is not type(default) and not (type(default) is float and type(value) is int):
            raise UsageError(
                f"'{value}' is no value for parameter '{name}'",
                where=f"method {card.name}: {name} = {default!r}",
                todo=f"give one of type {type(default).__name__}",
            )
        parameters[name] = value
    return parameters
