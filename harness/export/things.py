"""What runs are made with and on, as entities of a crate: methods, originals, images, data and licences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness import __version__
from harness.base.files import digest_of
from harness.data import load_manifest
from harness.export.contents import Contents, bill_path, relative_path
from harness.export.licences import spdx
from harness.export.parts import environment_files, manifest_files, method_files
from harness.export.scores import labels_of
from harness.methods.card import Language, MethodCard, Origin, load_method
from harness.planning.jobs import PlannedJob
from harness.results.records import Record
from harness.splits.splits import split_path

Entity = dict[str, Any]
References = dict[str, str] | list[dict[str, str]]
OUR_LICENCE = "https://spdx.org/licenses/Apache-2.0"
REPOSITORY = "repository"
SUITE_FORMAT = "#suite-format"
_LANGUAGES: dict[Language, tuple[str, str]] = {
    "python": ("Python", "https://www.python.org/"),
    "octave": ("GNU Octave", "https://octave.org/"),
    "r": ("R", "https://www.r-project.org/"),
    "java": ("Java", "https://openjdk.org/"),
}
_DOCKER_IMAGE = "https://w3id.org/ro/terms/workflow-run#DockerImage"
_SHORT = 16


def reference(entity: str) -> dict[str, str]:
    """A reference to an entity."""
    return {"@id": entity}


def references(entities: Iterable[str]) -> References:
    """References to entities, each once, in their order; a single one stands without a list."""
    every = [reference(one) for one in dict.fromkeys(entities)]
    return every[0] if len(every) == 1 else every


def packed(name: str) -> str:
    """The name in a crate of a file of the repository."""
    return f"{REPOSITORY}/{name}"


def parameter_id(method: str, name: str) -> str:
    """A formal parameter of a method."""
    return f"#{method}-{name}"


def value_id(method: str, name: str, value: object) -> str:
    """A value of a method's parameter, which many runs share."""
    return f"{parameter_id(method, name)}-{digest_of(value)[:_SHORT]}"


def dataset_id(contents: Contents, planned: PlannedJob) -> str:
    """The dataset of a run: the folder of its arrays, or its digest where they are not in the crate."""
    folder = labels_of(contents.layout, planned)
    digest = planned.dataset_digest
    return f"{relative_path(contents.folder, folder)}/" if folder.is_dir() else f"#dataset-{digest[:_SHORT]}"


def split_id(contents: Contents, planned: PlannedJob) -> str:
    """The split of a run: its file, or its digest where that is not in the crate."""
    path = split_path(contents.layout, planned.job.benchmark, planned.split_digest)
    return relative_path(contents.folder, path) if path.is_file() else f"#split-{planned.split_digest[:_SHORT]}"


def image_id(record: Record) -> str:
    """The image of a run."""
    return f"#image-{record.planned.image_tree[:_SHORT]}"


def licence_id(statement: str) -> str:
    """A licence: its page on the SPDX list, or the statement as a thing of its own."""
    identifier = spdx(statement)
    return f"https://spdx.org/licenses/{identifier}" if identifier else f"#licence-{digest_of(statement)[:_SHORT]}"


def licence(statement: str) -> Entity:
    """The entity of a licence, with the words of the card or manifest that states it."""
    name = spdx(statement) or statement
    return {"@id": licence_id(statement), "@type": "CreativeWork", "name": name, "description": statement}


def language_id(language: Language) -> str:
    """A programming language."""
    return _LANGUAGES[language][1]


def languages(cards: Iterable[MethodCard]) -> Iterator[Entity]:
    """The programming languages of methods; which version ran stands in the locks of the environments."""
    for language in sorted({"python", *(card.language for card in cards)}):
        name, url = _LANGUAGES[language]
        yield {"@id": url, "@type": "ComputerLanguage", "name": name, "url": url, "version": "as locked"}
    yield {
        "@id": SUITE_FORMAT,
        "@type": "ComputerLanguage",
        "name": "Permafrost suite",
        "description": "A list of planned cells, which `harness run` runs.",
        "version": __version__,
        "url": "https://www.json.org/",
    }


def method(contents: Contents, card: MethodCard, parameters: Values) -> Iterator[Entity]:
    """Our code of a method, which is the instrument of its runs, and the original that it is based on."""
    code = [packed(name) for name in method_files(contents.layout, card.name)]
    locks = [packed(name) for name in environment_files(contents.layout, card.name)]
    bills = [bill_path(*image) for image in contents.images if image[0] == card.name]
    entity: Entity = {
        "@id": contents.tools[card.name],
        "@type": "SoftwareApplication",
        "name": f"{card.title}, as implemented here",
        "description": " ".join(card.summary.split()),
        "version": _version(contents, card),
        "license": reference(OUR_LICENCE),
        "programmingLanguage": reference(language_id(card.language)),
        "url": contents.tools[card.name],
        "hasPart": references(code),
        "softwareRequirements": references([*bills, *locks]),
        "input": references(parameter_id(card.name, name) for name in parameters),
    }
    if has_answers(contents):
        entity["output"] = references([parameter_id(card.name, "answer")])
    if card.origin:
        entity["isBasedOn"] = reference(_original_id(card.origin))
        yield _original(card.origin)
        yield licence(card.origin.licence)
    if card.paper:
        entity["citation"] = reference(_paper_id(card))
        yield _paper(card)
    yield entity


Values = dict[str, dict[str, Any]]


def parameters_of(contents: Contents) -> dict[str, Values]:
    """What the runs were given, by method and formal parameter: the values by their entity."""
    methods: dict[str, Values] = {}
    for planned in [record.planned for record in contents.records.values()]:
        method = planned.job.method
        parameters = methods.setdefault(method, {})
        parameters.setdefault("dataset", {})[dataset_id(contents, planned)] = planned.dataset_digest
        parameters.setdefault("split", {})[split_id(contents, planned)] = planned.split_digest
        for name, value in settings_of(planned).items():
            parameters.setdefault(name, {})[value_id(method, name, value)] = value
    return dict(sorted(methods.items()))


def settings_of(planned: PlannedJob) -> dict[str, Any]:
    """What a run was told beside its inputs: variant, seeds, options, hyper-parameters."""
    job = planned.job
    settings = {"variant": job.variant, "split-seed": job.split.seed, "seed": job.fit_seed, **job.options}
    settings |= {f"parameter-{name}": value for name, value in sorted(job.parameters.items())}
    if planned.weights_digest:
        settings["weights"] = planned.weights_digest
    return settings


def formal_parameters(contents: Contents, card: MethodCard, parameters: Values) -> Iterator[Entity]:
    """The formal parameters of a method and the values that its runs had."""
    for name, values in parameters.items():
        is_data = name in ("dataset", "split")
        yield {
            "@id": parameter_id(card.name, name),
            "@type": "FormalParameter",
            "name": name,
            "additionalType": {"dataset": "Dataset", "split": "File"}.get(name, "PropertyValue"),
            "workExample": references(values),
        }
        if not is_data:
            yield from (
                {
                    "@id": entity,
                    "@type": "PropertyValue",
                    "name": name,
                    "value": value,
                    "exampleOfWork": reference(parameter_id(card.name, name)),
                }
                for entity, value in values.items()
            )
    if has_answers(contents):
        yield {
            "@id": parameter_id(card.name, "answer"),
            "@type": "FormalParameter",
            "name": "answer",
            "additionalType": "File",
            "workExample": references(
                f"{run_folder(contents, record)}{name}"
                for record in contents.records.values()
                if record.planned.job.method == card.name
                for name in record.answer_files
            ),
        }


def has_answers(contents: Contents) -> bool:
    """Whether any answer lies in the crate."""
    return any(
        (contents.folder / run_folder(contents, record) / name).is_file()
        for record in contents.records.values()
        for name in record.answer_files
    )


def run_folder(contents: Contents, record: Record) -> str:
    """The folder of a run in the crate."""
    return f"{relative_path(contents.folder, contents.layout.runs)}/{record.key[:2]}/{record.key}/"


def images(records: Iterable[Record]) -> Iterator[Entity]:
    """The images of runs."""
    for record in {record.planned.image_tree: record for record in records}.values():
        yield {
            "@id": image_id(record),
            "@type": "ContainerImage",
            "additionalType": reference(_DOCKER_IMAGE),
            "name": record.image.get("name", "").partition(":")[0].partition("/")[2],
            "tag": record.image.get("name", "").partition(":")[2],
            "registry": "localhost",
            "identifier": record.planned.image_tree,
            "sha256": record.image.get("id", "").removeprefix("sha256:"),
        }


def datasets(contents: Contents, parameters: dict[str, Values]) -> Iterator[Entity]:
    """The datasets of runs, with the licence that their labels derive from."""
    chosen = {record.planned.dataset_digest: record.planned for record in contents.records.values()}
    for digest, planned in sorted(chosen.items()):
        manifest = load_manifest(contents.layout, planned.job.dataset)
        folder, entity = labels_of(contents.layout, planned), dataset_id(contents, planned)
        files = sorted(relative_path(contents.folder, path) for path in folder.glob("*"))
        yield licence(manifest.licence)
        yield {
            "@id": entity,
            "@type": "Dataset",
            "name": manifest.title,
            "description": " ".join(f"{manifest.summary} From: {manifest.citation}".split()),
            "identifier": digest,
            "license": reference(licence_id(manifest.licence)),
            "exampleOfWork": _examples(parameters, "dataset", entity),
            "hasPart": references([*files, *map(packed, manifest_files(contents.layout, manifest.name))]),
        }


def splits(contents: Contents, parameters: dict[str, Values]) -> Iterator[Entity]:
    """The splits of runs that are not in the crate, by their digest."""
    chosen = {record.planned.split_digest: record.planned for record in contents.records.values()}
    for digest, planned in sorted(chosen.items()):
        entity = split_id(contents, planned)
        if entity.startswith("#"):
            yield {
                "@id": entity,
                "@type": "Dataset",
                "name": f"{planned.job.dataset}, {planned.job.split.label}",
                "description": "Made from its dataset by its strategy and seed; its checksum is published.",
                "identifier": digest,
                "exampleOfWork": _examples(parameters, "split", entity),
            }


def cards_of(contents: Contents) -> list[MethodCard]:
    """The cards of the methods that were run."""
    names = sorted({record.planned.job.method for record in contents.records.values()})
    return [load_method(contents.layout, name) for name in names]


def _examples(parameters: dict[str, Values], name: str, entity: str) -> References:
    return references(
        parameter_id(method, name) for method, values in parameters.items() if entity in values[name]
    )


def _version(contents: Contents, card: MethodCard) -> str:
    trees = {
        record.image.get("code_tree", "")
        for record in contents.records.values()
        if record.planned.job.method == card.name
    }
    return ", ".join(sorted(tree[:_SHORT] for tree in trees))


def _original_id(origin: Origin) -> str:
    """The page of an original at the commit that the card names."""
    is_github = origin.repository.startswith("https://github.com/")
    at = f"/tree/{origin.commit}" if is_github and origin.commit else ""
    return origin.repository.removesuffix("/") + at


def _original(origin: Origin) -> Entity:
    return {
        "@id": _original_id(origin),
        "@type": "SoftwareSourceCode",
        "name": f"the authors' implementation: {origin.repository}",
        "description": "Not in this crate, and not what ran: that is our implementation of the same method.",
        "codeRepository": origin.repository,
        "url": origin.repository,
        "version": origin.commit or "no commit is recorded",
        "license": reference(licence_id(origin.licence)),
    }


def _paper_id(card: MethodCard) -> str:
    assert card.paper is not None
    return f"https://doi.org/{card.paper.doi}" if card.paper.doi else f"#paper-{card.name}"


def _paper(card: MethodCard) -> Entity:
    assert card.paper is not None
    return {
        "@id": _paper_id(card),
        "@type": "ScholarlyArticle",
        "name": card.paper.title,
        "description": f"{card.paper.authors} ({card.paper.year}). {card.paper.venue}".strip(),
        "datePublished": str(card.paper.year),
    }
