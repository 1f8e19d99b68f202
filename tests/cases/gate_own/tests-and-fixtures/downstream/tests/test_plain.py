from unittest.mock import Mock

from order_pb2 import Order


def test_mock() -> None:
    row = Mock(coupon="TEN")
    assert row.coupon == "TEN"
    assert Order(id="1").id == "1"
