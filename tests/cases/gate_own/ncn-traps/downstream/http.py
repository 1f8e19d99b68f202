import urllib.error
import urllib.request

from order_pb2 import Order


def fetch(url: str) -> Order:
    try:
        with urllib.request.urlopen(url) as response:
            return Order(id=str(response.code))
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.code) from error
