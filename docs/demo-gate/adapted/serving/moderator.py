"""Judges comments: the gRPC service that writes verdicts."""

from acme.moderation.v1 import verdict_pb2, verdict_pb2_grpc


class Moderator(verdict_pb2_grpc.ModeratorServicer):
    def __init__(self, model):
        self.model = model

    def Judge(self, request: verdict_pb2.Comment, context) -> verdict_pb2.Verdict:
        score = self.model(request.text)
        label = verdict_pb2.LABEL_TOXIC if score > 0.5 else verdict_pb2.LABEL_FINE
        confidence = max(score, 1.0 - score)
        return verdict_pb2.Verdict(comment_id=request.id, label=label, confidence_score=confidence)
