from sum_pb2 import Sum


def note(message: Sum) -> str:
    return message.note
