import json


def code(row: str) -> str:
    return json.loads(row)["coupon"]
