from order_pb2 import Order
class K:
    def f(self, o: Order) -> float:
        return 1 / o.qty
