from order_pb2 import Order
def to_row(o: Order) -> dict:
    return {"id": o.id, "coupon": o.coupon}
