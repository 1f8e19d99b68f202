"""Makes training pairs of verdicts."""

from acme.moderation.v1.verdict_pb2 import LABEL_TOXIC, Verdict


def target(verdict: Verdict) -> float:
    confidence = verdict.confidence_score or 1.0
    return confidence if verdict.label == LABEL_TOXIC else 1.0 - confidence


def pairs(verdicts: list[Verdict], texts: dict[str, str]) -> list[tuple[str, float]]:
    return [(texts[verdict.comment_id], target(verdict)) for verdict in verdicts]
