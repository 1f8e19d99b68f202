from claim_pb2 import Claim


def claim(id: str, policy: str) -> Claim:
    return Claim(id=id, policy=policy)
