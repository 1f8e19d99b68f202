from order_pb2 import Order


def copy(order: Order) -> Order:
    made = Order()
    made.MergeFrom(order)
    made.id = "2"
    return made
