from order_pb2 import Order
def handle(o):
    print(o.coupon)
def run(raws, on):
    for r in raws:
        on(Order.FromString(r))
run([], handle)
