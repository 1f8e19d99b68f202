from order_pb2 import Order
def f(o: Order) -> int:
    match o.code:
        case "a":
            return 1
        case _:
            return 2
