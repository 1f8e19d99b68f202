from order_pb2 import Order as Base

__all__ = ["Base"]
