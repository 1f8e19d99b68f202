from t_pb2 import Ticket


def text(ticket: Ticket) -> str:
    return ticket.state.upper()
