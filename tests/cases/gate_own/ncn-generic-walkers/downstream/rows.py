import order_pb2


def header() -> list:
    return list(order_pb2.Order.DESCRIPTOR.fields_by_name)


def row(order: order_pb2.Order) -> list:
    return [getattr(order, name) for name in order_pb2.Order.DESCRIPTOR.fields_by_name]
