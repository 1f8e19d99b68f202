from order_pb2 import Order


def order(place: str) -> Order:
    values = {"id": "1", "ship_to": place}
    return Order(**values)
