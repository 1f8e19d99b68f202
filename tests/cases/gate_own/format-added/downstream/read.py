from person_pb2 import Person


def mail(raw: bytes) -> str:
    return Person.FromString(raw).mail
