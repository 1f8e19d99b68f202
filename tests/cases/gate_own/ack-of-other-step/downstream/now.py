import person_pb2

# contract-ack: crm.v1.Person.born@unit s->us (divided now)


def born(raw: bytes) -> float:
    return person_pb2.Person.FromString(raw).born / 1e6
