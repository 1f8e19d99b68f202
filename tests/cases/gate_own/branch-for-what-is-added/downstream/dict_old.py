from k_pb2 import KIND_A, KIND_B, M
T = {KIND_A: 1, KIND_B: 2}
def f(m: M) -> int:
    return T[m.kind]
