import person_pb2

# contract-ack: crm.v1.Person.born@unit ms->s (done last year)


def born(raw: bytes) -> float:
    return float(person_pb2.Person.FromString(raw).born)
