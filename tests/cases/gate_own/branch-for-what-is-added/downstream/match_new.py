from k_pb2 import KIND_A, KIND_B, KIND_C, M
import k_pb2
def f(m: M) -> int:
    match m.kind:
        case k_pb2.KIND_A:
            return 1
        case k_pb2.KIND_B:
            return 2
        case k_pb2.KIND_C:
            return 3
    raise ValueError
def g(m: M) -> int:
    if m.kind == KIND_A:
        return 1
    elif m.kind == KIND_B:
        return 2
    elif m.kind == KIND_C:
        return 3
    raise ValueError
