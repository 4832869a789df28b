"""Words counted by subject: the subject whose words a note has is the answer."""

from __future__ import annotations

from collections import Counter

from notes_sdk import Problem, run


def fit_predict(problem: Problem) -> list[tuple[str, float]]:
    """A share for each subject, by its words; equal ones in the order of the alphabet."""
    counts: dict[str, Counter[str]] = {}
    for text, subject in zip(problem.documents, problem.subjects, strict=True):
        if subject:
            counts.setdefault(subject, Counter()).update(text.lower().split())
    answer = []
    for place in problem.asked:
        words = problem.documents[place].lower().split()
        scores = {
            subject: problem.parameters["smoothing"] + sum(count[word] for word in words)
            for subject, count in sorted(counts.items())
        }
        best = max(scores, key=lambda subject: scores[subject])
        answer.append((best, scores[best] / sum(scores.values())))
    return answer


run(fit_predict)
