from p_pb2 import Person


def person(city: str) -> Person:
    person = Person(id="1")
    person.home.city = city
    return person
