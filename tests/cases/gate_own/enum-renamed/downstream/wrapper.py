import t_pb2


def text(t: t_pb2.Ticket) -> str:
    return t_pb2.State.Name(t.state)
