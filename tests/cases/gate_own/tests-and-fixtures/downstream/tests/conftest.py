import pytest

from order_pb2 import Order


@pytest.fixture
def order() -> Order:
    return Order(id="1", coupon="TEN")
