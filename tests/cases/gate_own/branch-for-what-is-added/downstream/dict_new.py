from k_pb2 import KIND_A, KIND_B, KIND_C, M
T = {KIND_A: 1, KIND_B: 2, KIND_C: 3}
def f(m: M) -> int:
    return T[m.kind]
