import t_pb2


def is_open(t: t_pb2.Ticket) -> bool:
    return t.state == t_pb2.STATE_OPEN
