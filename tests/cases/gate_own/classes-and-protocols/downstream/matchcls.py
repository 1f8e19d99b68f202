from order_pb2 import Order


def code(thing: object) -> str:
    match thing:
        case Order(coupon=code):
            return code
        case _:
            return ""
