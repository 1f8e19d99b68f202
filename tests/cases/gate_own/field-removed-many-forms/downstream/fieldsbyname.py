from order_pb2 import Order
def f() -> int:
    return Order.DESCRIPTOR.fields_by_name["coupon"].number
