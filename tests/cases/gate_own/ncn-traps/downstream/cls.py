from order_pb2 import Order


class Failure(Exception):
    def __init__(self, code, order):
        super().__init__(order.id)
        self.code = code


def told(failure: Failure) -> int:
    return failure.code


def key(order: Order) -> str:
    return order.id
