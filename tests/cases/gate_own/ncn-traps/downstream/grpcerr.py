import grpc

from order_pb2 import Order


def status(error: grpc.RpcError, order: Order) -> str:
    return f"{order.id}: {error.code()}"
