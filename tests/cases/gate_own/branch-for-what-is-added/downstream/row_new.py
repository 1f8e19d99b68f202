from k_pb2 import Kind, M


def f(m: M) -> int:
    if m.kind == Kind.KIND_A:
        return 1
    if m.kind == Kind.KIND_B:
        return 2
    if m.kind == Kind.KIND_C:
        return 3
    raise ValueError("no kind")
