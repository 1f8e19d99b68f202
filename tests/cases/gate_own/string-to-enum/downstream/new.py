from t_pb2 import STATE_OPEN, Ticket


def is_open(ticket: Ticket) -> bool:
    return ticket.state == STATE_OPEN
