from hit_pb2 import Hit


def forward(hit: Hit) -> bytes:
    return hit.SerializeToString()
