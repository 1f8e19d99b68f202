from order_pb2 import Order
def test_f():
    assert Order(coupon="x").coupon == "x"
