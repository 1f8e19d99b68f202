import t_pb2


def high(t: t_pb2.Ticket) -> bool:
    return t.prio == 1
