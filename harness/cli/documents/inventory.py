"""What methods, datasets, weights and findings there are, as answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from harness.cli.documents.forms import Answer, Fields, OpenFields
from harness.data.own_dataset import Change
from harness.results.findings import Finding


class Listed(Fields):
    """A name with what it is."""

    name: str
    summary: str


class FaultyDataset(Listed):
    """A dataset whose manifest can't be read has a `fault`."""

    fault: str = ""


class ListedMethod(OpenFields):
    """A method. Other fields are those of its card (`method.toml`)."""

    name: str
    summary: str
    title: str
    category: str
    language: str
    benchmarks: list[str]
    control: bool
    variants: dict[str, Any]


class ListedFinding(Finding):
    """A finding of the benchmark `name`."""

    name: str
    summary: str


class Listing(Answer):
    """`harness list`: what kind the rows are of is what was asked for."""

    rows: list[ListedMethod | ListedFinding | FaultyDataset]


class FaultyManifest(Fields):
    """A manifest that can't be read."""

    name: str
    fault: str


class DatasetRow(OpenFields):
    """A dataset, and whether its files are here. Other fields are those of its manifest (`dataset.toml`)."""

    name: str
    title: str
    benchmark: str
    state: str


class Datasets(Answer):
    """`harness data list`."""

    rows: list[DatasetRow | FaultyManifest]


class LoadedDataset(Fields):
    """A dataset that was converted: the digest of its arrays; None where a person has to bring it."""

    name: str
    digest: str | None
    remarks: list[str]


class LoadedDatasets(Answer):
    """`harness data get`."""

    rows: list[LoadedDataset]


class VerifiedDataset(Fields):
    """Whether a dataset is what its manifest says."""

    name: str
    verdict: Literal["ok", "corrupt", "not here"]
    reason: str


class VerifiedDatasets(Answer):
    """`harness data verify`."""

    rows: list[VerifiedDataset]


class ForgottenFiles(Answer):
    """`harness data forget`."""

    name: str
    forgotten: list[str]


class WeightsRow(OpenFields):
    """A pretrained model, and whether it is here. Other fields are those of its `weights.toml`."""

    method: str
    title: str
    state: str


class WeightsListing(Answer):
    """`harness weights list`."""

    rows: list[WeightsRow]


class WeightsAnswer(Answer):
    """`harness weights get` and `adapt`: the digest of what is here now."""

    method: str
    title: str
    digest: str


class VerifiedWeights(Fields):
    """Whether a model is here and unchanged."""

    method: str
    verdict: Literal["ok", "not here"]


class WeightsVerification(Answer):
    """`harness weights verify`."""

    rows: list[VerifiedWeights]


class DatasetAnswer(Answer):
    """`harness data show`. Other fields are those of its manifest (`dataset.toml`)."""

    model_config = ConfigDict(extra="allow", strict=True)
    name: str
    title: str
    benchmark: str
    state: str
    folder: str


class NewDataset(Answer):
    """`harness data new`: a dataset of a person's own, and what was made of its tables."""

    name: str
    benchmark: str
    folder: str
    digest: str
    statistics: dict[str, Any]
    remarks: list[str]


class OutdatedRun(Fields):
    """A stored run of other data than there are now."""

    key: str
    label: str


class AcceptedTables(Answer):
    """`harness data accept`: what the manifest says otherwise now."""

    name: str
    digest: str
    changes: list[Change]
    outdated: list[OutdatedRun]
    remarks: list[str]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "data accept": (AcceptedTables,),
    "data forget": (ForgottenFiles,),
    "data get": (LoadedDatasets,),
    "data list": (Datasets,),
    "data new": (NewDataset,),
    "data show": (DatasetAnswer,),
    "data verify": (VerifiedDatasets,),
    "list": (Listing,),
    "weights adapt": (WeightsAnswer,),
    "weights get": (WeightsAnswer,),
    "weights list": (WeightsListing,),
    "weights verify": (WeightsVerification,),
}
