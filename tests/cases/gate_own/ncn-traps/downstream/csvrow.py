import csv

from order_pb2 import Order


def orders(path: str) -> list:
    with open(path) as file:
        return [Order(id=row["code"], name=row.get("name", "")) for row in csv.DictReader(file)]
