from google.protobuf import symbol_database

import shop_pb2  # noqa: F401


def kind():
    return symbol_database.Default().GetSymbol("shop.v1.Coupon")
