from cart_pb2 import Cart


def first(cart: Cart) -> str:
    return next(iter(cart.skus), "")
