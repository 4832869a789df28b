"""Counts of a dataset of `combos`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from harness.benchmarks.contract import Statistics

_BYTES_OF_A_COMBINATION = 60


class CombosStatistics(Statistics):
    """Counts of documents, drugs and relations; `test_...` are of the test file. None is not checked."""

    documents: int = Field(ge=1)
    relations: int = Field(ge=0)
    test_documents: int | None = Field(default=None, ge=0)
    unannotated: int | None = Field(default=None, ge=0, description="documents whose relations nobody knows")
    drugs: int | None = Field(default=None, ge=0, description="marked drugs, each where it stands in a sentence")
    most_drugs: int | None = Field(default=None, ge=0, description="of one document")
    test_relations: int | None = Field(default=None, ge=0)
    positive: int | None = Field(default=None, ge=0, description="relations of class POS")
    test_positive: int | None = Field(default=None, ge=0)
    combined: int | None = Field(
        default=None, ge=0, description="relations of class COMB: together, with no effect said"
    )
    test_combined: int | None = Field(default=None, ge=0)
    negative: int | None = Field(default=None, ge=0, description="relations of class NEG")
    test_negative: int | None = Field(default=None, ge=0)
    context_needed: int | None = Field(
        default=None, ge=0, description="relations that the sentence alone does not show"
    )
    test_context_needed: int | None = Field(default=None, ge=0)
    pairs: int | None = Field(default=None, ge=0, description="relations of two drugs")
    triples: int | None = Field(default=None, ge=0)
    quadruples: int | None = Field(default=None, ge=0)
    larger: int | None = Field(default=None, ge=0)
    without_relation: int | None = Field(default=None, ge=0, description="annotated documents")
    with_one: int | None = Field(default=None, ge=0)
    with_more: int | None = Field(default=None, ge=0)

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """A few combinations for every document."""
        return 4 * _BYTES_OF_A_COMBINATION * self.documents

    @property
    def line(self) -> str:
        """Documents, drugs and relations."""
        drugs = "?" if self.drugs is None else self.drugs
        return f"{self.documents:>5} texts {drugs:>5} drugs  {self.relations:>9} relations      "
