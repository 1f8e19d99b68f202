from cart_pb2 import Cart


def cart() -> Cart:
    return Cart(skus=["A-100", "A-200"])
