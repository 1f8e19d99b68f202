"""Makes training pairs of verdicts."""

from acme.moderation.v1.verdict_pb2 import LABEL_TOXIC, Verdict


def target(verdict: Verdict) -> float:
    return 1.0 if verdict.label == LABEL_TOXIC else 0.0


def pairs(verdicts: list[Verdict], texts: dict[str, str]) -> list[tuple[str, float]]:
    return [(texts[verdict.comment_id], target(verdict)) for verdict in verdicts]
