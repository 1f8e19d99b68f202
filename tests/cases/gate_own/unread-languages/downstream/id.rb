require 'order_pb'

def key(raw)
  Shop::V1::Order.decode(raw).id
end
