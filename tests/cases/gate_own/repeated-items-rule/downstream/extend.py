from cart_pb2 import Cart


def cart(n: int) -> Cart:
    return Cart(skus=[str(i) for i in range(3)])
