"""The data card of a training set: what was read, used and dropped and why, and what each field of it looked like.

    builder = CardBuilder(TEXT_SAMPLE)
    for raw in records:
        builder.add(TEXT_SAMPLE.process(raw))
    card = builder.card()
    card.write("cards")                  # card.json and card.html
    card.stamp("model.onnx")             # contract, data versions and the card's hash into the model

Needs neither torch nor NumPy. docs/data-card.md.
"""

from protocontract.card.builder import CardBuilder
from protocontract.card.card import SCHEMA, Card
from protocontract.card.stamp import Stamp, read_stamp, write_stamp

__all__ = ["SCHEMA", "Card", "CardBuilder", "Stamp", "read_stamp", "write_stamp"]
