from p_pb2 import Address


def city(raw: bytes) -> str:
    return Address.FromString(raw).city
