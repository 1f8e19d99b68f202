from order_pb2 import Order, State


def text(order: Order) -> str:
    return State.Name(order.state).lower()
