from order_pb2 import Order


def test_code(order: Order) -> None:
    assert order.coupon == "TEN"
