from order_pb2 import Item, Order
def f(x: str) -> Order:
    return Order(item=Item(sku=x))
