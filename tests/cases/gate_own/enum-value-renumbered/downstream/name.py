import t_pb2


def high(raw: bytes) -> bool:
    return t_pb2.Ticket.FromString(raw).prio == t_pb2.PRIO_HIGH
