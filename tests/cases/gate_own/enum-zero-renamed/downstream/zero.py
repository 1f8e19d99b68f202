import t_pb2


def unset(t: t_pb2.Ticket) -> bool:
    return t.state == 0
