"""The contract of a benchmark: all that the shared parts of the harness know of one.

A benchmark is a package beside this module whose `BENCHMARK` is a `Benchmark`. Its folder may also hold, found by
their places: `converters/` and `splits/strategies/` (one module each), `conformance/`, `parity/`, `study/`,
`study.toml`, `commands.py`, `suites/*.toml`, `sdk/LANGUAGE/` and `templates/`. docs/benchmarks.md describes each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from harness.base.manifests import Strict
from harness.benchmarks.measures import Question, Scoring

if TYPE_CHECKING:
    from harness.base.input_files import Array, Given
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking


class Statistics(Strict):
    """What the converted arrays of a dataset must show, as its manifest says it."""

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """How large the answer of one run is, about."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """How the arrays are to be counted: arguments of `Dataset.statistics`."""
        return {}

    @property
    def line(self) -> str:
        """The numbers in one line."""
        raise NotImplementedError


class Options(Strict):
    """What a run may be asked for beside method, dataset and split. Part of its key, and of `job.json`."""


class Dataset(Protocol):
    """A converted dataset: a dataclass with the fields that `arrays` and `names` list, and the other three."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of its manifest; two names of the same content have one digest."""
        ...

    @property
    def digest(self) -> str:
        """A hash over every array and text; empty until it was checked."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of it."""
        ...

    @property
    def arrays(self) -> Mapping[str, Array]:
        """Every array, in the type in which it is kept."""
        ...

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        ...

    @property
    def statistics(self) -> Callable[..., Statistics]:
        """What the arrays show; called with the manifest's `settings`."""
        ...


class Split(Protocol):
    """A split and the sha256 of its file."""

    @property
    def digest(self) -> str:
        """The sha256 of the split file."""
        ...

    @property
    def training(self) -> int:
        """How many items train."""
        ...

    @property
    def test(self) -> int:
        """How many items are asked of a method."""
        ...


D = TypeVar("D", bound=Dataset)
S = TypeVar("S", bound=Split)
A = TypeVar("A")
D_contra = TypeVar("D_contra", bound=Dataset, contravariant=True)


class Strategy(Protocol[D_contra, S]):
    """A module of `splits/strategies`. It may also have

    - `FILES`: paths of files, other than modules it imports, on which its splits depend;
    - `broken_draws(dataset, split, seed, parameters)`: promises that only drawing again can examine.

    The first sentence of the docstrings of `broken_promises` and `broken_draws` says in words what is examined.
    """

    # one line for lists of strategies
    SUMMARY: str
    # what a person may set, with the usual values; `make` and `broken_promises` are handed one of these
    Parameters: type[Strict]

    def make(self, dataset: D_contra, seed: int, parameters: Strict) -> S:
        """The split."""
        ...

    def broken_promises(self, dataset: D_contra, split: S, parameters: Strict) -> list[str]:
        """The promises of the strategy, beyond those of every split, that this one breaks."""
        ...


@dataclass(frozen=True)
class AnswerFile:
    """A file that a method writes."""

    # its name in the folder of the answer
    name: str
    # whether a run without it is invalid
    required: bool = True
    # whether scores are computed from it
    scored: bool = True
    # whether a replay must give it again bit for bit
    compared: bool = True


class Form(ABC, Generic[D, S]):
    """How the splits of a benchmark are kept, and what all of them promise."""

    # the seed of the original code; None where there are many published ones
    usual_seed: int | None = None
    # how the name of a split file ends
    suffix: str = ".npy"

    def published_seeds(self) -> tuple[int, ...]:
        """The seeds of the publication, where these are many."""
        return ()

    @abstractmethod
    def content(self, split: S) -> bytes:
        """The split file."""

    @abstractmethod
    def read(self, path: Path, load: Callable[[], D]) -> S:
        """The split of a file from anywhere, checked for its form; `load` gives the dataset if that needs it."""

    @abstractmethod
    def fits(self, split: S, dataset: D) -> bool:
        """Whether the split is of as many things as the dataset has."""

    @abstractmethod
    def broken_promises(self, split: S, dataset: D) -> list[str]:
        """The promises of every split that this one breaks. The first sentence says in words what is examined."""

    @abstractmethod
    def describe(
        self, split: S, dataset: D, strategy: Strategy[D, S], parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """A description of a split: tables of numbers, by name."""


class Benchmark(ABC, Generic[D, S, A]):
    """One benchmark. What is heavy to import is imported by the methods that need it."""

    # where it stands among the others; the first is meant where a person names none
    place: int = 100
    # counted up when inputs are made otherwise: part of every key from 2 on
    inputs_version: int = 1
    # what a method's card may declare
    input_names: tuple[str, ...]
    # what a method writes
    answer_files: tuple[AnswerFile, ...]
    # the metrics that tables show first
    key_metrics: tuple[str, ...]
    # what a method has learned: these must not depend on the order of its items
    order_free_metrics: tuple[str, ...] = ()
    # what a manifest says of its datasets
    statistics: type[Statistics]
    # what a run may be asked for beside method, dataset and split
    options: type[Options] = Options
    # those that `harness predict` does not leave as usual
    options_to_predict: Mapping[str, int] = MappingProxyType({})
    # tables that a person brings where nobody may publish them
    brought_tables: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its package."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def required_files(self) -> tuple[str, ...]:
        """The files without which an answer is invalid."""
        return tuple(file.name for file in self.answer_files if file.required)

    @property
    def scored_files(self) -> tuple[str, ...]:
        """The files that scores are computed from."""
        return tuple(file.name for file in self.answer_files if file.scored)

    @property
    def compared_files(self) -> tuple[str, ...]:
        """The files that a replay must give again bit for bit."""
        return tuple(file.name for file in self.answer_files if file.compared)

    @property
    @abstractmethod
    def dataset(self) -> type[D]:
        """The class of its converted datasets."""

    @property
    @abstractmethod
    def form(self) -> Form[D, S]:
        """The form of its splits."""

    @property
    @abstractmethod
    def scoring(self) -> Scoring[D, S, A]:
        """How its answers are scored."""

    @abstractmethod
    def remarks(self, dataset: D) -> tuple[str, ...]:
        """What a person should know of a dataset; what cannot be right is refused with `CorruptData`."""

    @abstractmethod
    def inputs(
        self, dataset: D, split: S, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """The inputs that a method declares and those of every method, by name; never a test label."""

    @abstractmethod
    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """The same problem in the order of a secret, and the way back for its answer."""

    @abstractmethod
    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> Question[A]:
        """What a run is asked, from what was handed to a container."""

    @abstractmethod
    def ranking(self, dataset: D, split: S, answer: A, top: int | None) -> Ranking:
        """The predictions as rows, best first."""
