import time
from order_pb2 import Order
def run(send):
    while True:
        send(Order(id="1").SerializeToString())
        time.sleep(30)
