from person_pb2 import Person


def desk() -> Person:
    return Person(id="1", mail="desk@example.com")
