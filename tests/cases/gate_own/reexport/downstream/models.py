from order_pb2 import Order
__all__ = ["Order"]
