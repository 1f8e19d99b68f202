from order_pb2 import Order
def f(o: Order) -> str:
    return "coupon: " + o.id
