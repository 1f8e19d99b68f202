from k_pb2 import Kind, M

NAMES = {1: "a", 2: "b", 3: "c"}


def name(m: M) -> str:
    return NAMES[m.kind]


def known(m: M) -> bool:
    if m.kind in (Kind.KIND_A, Kind.KIND_B):
        return True
    elif m.kind == Kind.Value("KIND_C"):
        return False
    raise ValueError
