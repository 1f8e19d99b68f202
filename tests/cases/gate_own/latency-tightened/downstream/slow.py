import time
from order_pb2 import Order
INTERVAL = 300
def run(send):
    while True:
        send(Order(id="1").SerializeToString())
        time.sleep(INTERVAL)
