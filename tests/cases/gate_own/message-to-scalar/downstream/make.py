from p_pb2 import Address, Person


def person(city: str) -> Person:
    return Person(id="1", home=Address(city=city))
