import pytest

from order_pb2 import Order


@pytest.mark.parametrize("name", ["id", "coupon"])
def test_has(name: str) -> None:
    assert hasattr(Order(), name)
