import k_pb2


def f(m: k_pb2.M, strict: bool) -> int:
    match m.kind:
        case k_pb2.KIND_A | k_pb2.KIND_B:
            return 1
        case k_pb2.KIND_C if strict:
            return 3
    raise ValueError
