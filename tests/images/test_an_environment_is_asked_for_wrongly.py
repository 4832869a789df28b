from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.images import refuse_unless_usable
from harness.images.cards import environment_chain, environment_names, language_of, load_environment
from harness.images.context import parts_of
from harness.images.locks import read_wheels
from harness.images.record import recorded_tree, variant_of
from tests.images.making import Workbench


def test_every_environment_of_this_repository_is_valid(repository: Layout) -> None:
    for name in environment_names(repository):
        chain = environment_chain(repository, name)
        assert chain[0].name == "_base"
        for backend in chain[-1].backends:
            for accelerator, part in chain[-1].card.variants.items():
                if not part.not_lockable:
                    assert chain[-1].lock_path(backend, accelerator).is_file(), name
                    assert parts_of(chain[-1], accelerator), name


def test_no_lock_names_a_host_or_a_folder_of_a_machine(repository: Layout) -> None:
    for path in (*repository.containers.glob("*/*.lock"), *repository.containers.glob("*/tree.*")):
        text = path.read_text()
        assert "://" not in text, path
        assert "/root/" not in text.replace(" /root\n", ""), path
        assert "/home/" not in text, path


def test_a_field_with_a_typing_error_is_named(bench: Workbench) -> None:
    bench.environment("toy", 'summary = "x"\nextends = "_base"\n[debian]\npackage = ["a"]\n')
    with pytest.raises(ManifestError) as caught:
        load_environment(bench.layout, "toy")
    assert "toy/environment.toml: debian.package" in str(caught.value)


def test_an_environment_that_extends_itself_is_refused(bench: Workbench) -> None:
    bench.environment("one", 'summary = "x"\nextends = "two"\n')
    bench.environment("two", 'summary = "x"\nextends = "one"\n')
    with pytest.raises(ManifestError, match="extends itself"):
        environment_chain(bench.layout, "one")


@pytest.mark.parametrize("name", ["nothing", "../methods", "_BASE"])
def test_an_unknown_environment_is_refused_with_what_lists_those_that_exist(repository: Layout, name: str) -> None:
    with pytest.raises(UsageError, match="no environment is called") as caught:
        load_environment(repository, name)
    assert "`harness image list` shows all" in caught.value.todo
    assert ("did you mean '_base'?" in caught.value.todo) == (name == "_BASE")


@pytest.mark.parametrize("name", ["../elsewhere", "toy/.", "toy/../toy", "Toy", "2toy", ""])
def test_a_name_that_leads_to_a_file_by_another_way_names_no_environment(bench: Workbench, name: str) -> None:
    for one in ("toy", "Toy", "2toy", "../elsewhere", ""):
        bench.environment(one, 'summary = "x"\n')
    with pytest.raises(UsageError) as refused:
        load_environment(bench.layout, name)
    assert refused.value.what == f"no environment is called '{name}'"


def test_an_environment_without_a_language_says_which_there_are(bench: Workbench) -> None:
    bench.environment("toy", 'summary = "x"\nextends = "_base"\n')
    with pytest.raises(ManifestError, match="has no language") as caught:
        language_of(environment_chain(bench.layout, "toy"))
    assert "octave" in caught.value.todo


def test_a_cuda_variant_must_say_on_which_gpus_it_runs(bench: Workbench) -> None:
    bench.environment("toy", 'summary = "x"\n[wheels]\nrequirements = []\n[variants.cuda]\nwheels = ["torch"]\n')
    with pytest.raises(ManifestError, match="breaks its schema") as caught:
        load_environment(bench.layout, "toy")
    assert "compute_capabilities: is missing" in str(caught.value)


def test_a_misspelt_field_of_an_environment_is_told_in_plain_words(bench: Workbench) -> None:
    bench.environment("toy", 'sumary = "x"\nextends = 7\n')
    with pytest.raises(ManifestError) as caught:
        load_environment(bench.layout, "toy")
    lines = [line.partition("environment.toml: ")[2] for line in caught.value.where.splitlines()]
    assert lines == [
        "extends: has to be a text in quotes, not 7",
        "sumary: there is no such field; did you mean 'summary'?",
    ]


def test_a_gpu_the_variant_was_not_built_for_is_refused(repository: Layout) -> None:
    card = load_environment(repository, "_torch").card
    refuse_unless_usable(card, name="_torch", capability="9.0")
    with pytest.raises(UsageError, match=r"compute capability 3\.5") as caught:
        refuse_unless_usable(card, name="_torch", capability="3.5")
    assert "CPU" in caught.value.todo
    with pytest.raises(UsageError, match="has no CUDA variant"):
        refuse_unless_usable(load_environment(repository, "_numpy").card, name="_numpy", capability="9.0")


def test_the_cuda_lock_holds_torch_with_its_cuda_wheels(repository: Layout) -> None:
    environment = load_environment(repository, "_torch")
    names = {wheel.name for wheel in read_wheels(environment.lock_path("wheels", "cuda"))}
    assert {"torch", "numpy", "triton"} <= names
    assert any(name.startswith("nvidia-cublas") for name in names)


def test_a_variant_that_cannot_be_locked_says_why(bench: Workbench) -> None:
    bench.environment("toy", 'summary = "x"\n[wheels]\n[variants.cpu]\nnot_lockable = "in no public index"\n')
    with pytest.raises(UsageError, match="has no cpu variant") as caught:
        variant_of(load_environment(bench.layout, "toy"), "cpu")
    assert "public index" in caught.value.where


def test_an_environment_that_knows_nothing_of_cuda_is_the_same_for_it(repository: Layout) -> None:
    assert variant_of(load_environment(repository, "_octave"), "cuda") == "cpu"
    assert recorded_tree(repository, "als_wr", "cuda") == recorded_tree(repository, "als_wr", "cpu")


def test_left_out_packages_carry_their_reasons(repository: Layout) -> None:
    for name in environment_names(repository):
        for package, reason in load_environment(repository, name).card.debian.left_out.items():
            assert len(reason) > 4, f"{name}: {package}"


def test_paths_of_locks_follow_the_back_end(tmp_path: Path, repository: Layout) -> None:
    environment = load_environment(repository, "_torch")
    assert environment.lock_path("wheels", "cuda").name == "wheels.cuda.lock"
    assert environment.lock_path("debian", "cuda").name == "debian.lock"
