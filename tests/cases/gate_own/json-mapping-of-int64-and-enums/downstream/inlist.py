from order_pb2 import Order, State


def done(order: Order) -> bool:
    return State.Name(order.state) in ("STATE_SENT",)
