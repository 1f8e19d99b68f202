from t_pb2 import Ticket


def is_open(ticket: Ticket) -> bool:
    return ticket.state == "open"
