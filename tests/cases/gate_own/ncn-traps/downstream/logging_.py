import logging

from order_pb2 import Order

log = logging.getLogger(__name__)


def tell(order: Order) -> None:
    log.info("order", extra={"code": 3, "id": order.id})
