from t_pb2 import Ticket


def ticket() -> Ticket:
    return Ticket(id="1", state="open")
