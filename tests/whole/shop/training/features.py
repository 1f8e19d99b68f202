"""What the model gets of a payment, and what its scores mean: the same in training and in the service."""

import math

from shop.v1.payment_pb2 import Assessment, Features, Payment, Scores

from protocontract.steps import step


@step(version="1")
def features(payment: Payment) -> Features:
    return Features(x=[math.log10(1 + float(payment.amount)), payment.currency, len(payment.note)])


@step(version="1")
def assess(output: Scores) -> Assessment:
    best = max(range(3), key=lambda at: output.scores[at])
    return Assessment(risk=best + 1)
