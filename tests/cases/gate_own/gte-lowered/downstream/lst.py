from order_pb2 import Order
def f(orders: list) -> float:
    return sum(1 / o.qty for o in orders)
