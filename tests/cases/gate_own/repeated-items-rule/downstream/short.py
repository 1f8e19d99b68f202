from cart_pb2 import Cart


def cart() -> Cart:
    cart = Cart()
    cart.skus.append("A1")
    return cart
