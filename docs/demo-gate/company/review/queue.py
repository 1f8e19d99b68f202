"""Puts toxic comments before a person: a consumer of moderation.verdicts."""

from acme.moderation.v1 import verdict_pb2


def needs_review(raw: bytes) -> bool:
    verdict = verdict_pb2.Verdict.FromString(raw)
    return verdict.label == verdict_pb2.LABEL_TOXIC


def run(consumer, review):
    for record in consumer:
        if needs_review(record.value):
            review(record.key)
