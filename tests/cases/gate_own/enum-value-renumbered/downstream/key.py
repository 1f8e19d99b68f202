import t_pb2


def key(raw: bytes) -> str:
    return t_pb2.Ticket.FromString(raw).id
