"""The network of a golden case of SSI-DDI or SAGAN, with the case's weights: all sizes are those of its arrays."""

from __future__ import annotations

from golden_cases import blocks_of, load_golden
from permafrost_sdk import Case
from substructures import Network, Sizes


def golden_network(case: Case) -> Network:
    """Loaded with all parameters of the case, and no others."""
    given = case.arrays
    _, heads, width = given["param/block0.conv.att_src"].shape
    sizes = Sizes(heads, blocks_of(case, "block"), len(given["param/initial_norm.weight"]))
    network = Network(len(given["param/KGE.rel_emb.weight"]), heads * width, sizes)
    load_golden(network, case)
    return network
