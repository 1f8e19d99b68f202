from order_pb2 import Order


def order(mail: str) -> Order:
    return Order(id="1", buyer={"name": "x", "mail": mail})
