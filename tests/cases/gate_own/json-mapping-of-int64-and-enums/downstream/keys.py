from order_pb2 import State


def number() -> int:
    return dict(State.items())["STATE_SENT"]
