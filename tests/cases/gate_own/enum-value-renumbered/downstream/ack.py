import t_pb2

# contract-ack: desk.v1.Prio.PRIO_HIGH 1->5 (the table was rewritten)


def high(raw: bytes) -> bool:
    return t_pb2.Ticket.FromString(raw).prio == t_pb2.PRIO_HIGH
