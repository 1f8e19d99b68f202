import shop_pb2

TITLE = "Coupon of the day"


def title(shop: shop_pb2.Shop) -> str:
    return TITLE + shop.id
