from p_pb2 import Person


def city(person: Person) -> str:
    return person.home.title()
