from person_pb2 import Person


def nobody() -> Person:
    return Person(id="1", mail="none")
