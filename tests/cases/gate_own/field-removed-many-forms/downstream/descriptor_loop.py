from order_pb2 import Order
def f(o: Order) -> list:
    return [field.name for field, _ in o.ListFields()]
