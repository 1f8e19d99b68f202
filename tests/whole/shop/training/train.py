"""Reads a training set, and prints of each sample what a training would see: ``train.py FILE``."""

import json
import sys

from features import features
from shop.v1.payment_contract import FEATURES, PAYMENT
from shop.v1.payment_pb2 import Features, Payment

from protocontract.chain import digest
from protocontract.torch import ContractDataset, ContractLoader
from protocontract.torch.collate import Collate


def sample(payment: Payment) -> tuple[str, str, Features]:
    return payment.id, digest(payment), features(payment)


def batch(samples: list[tuple[str, str, Features]]) -> list[dict[str, str]]:
    rows = Collate(FEATURES)([made for _, _, made in samples])["x"].split(1)
    return [
        {"id": name, "normalised": normalised, "features": digest({"x": row.numpy()})}
        for (name, normalised, _), row in zip(samples, rows, strict=True)
    ]


def main(file: str) -> None:
    train = ContractDataset.from_files(file, PAYMENT, transform=sample, on_violation="skip")
    for lines in ContractLoader(train, batch_size=4, num_workers=2, collate_fn=batch):
        for line in lines:
            print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
