-- contract-ack: shop.v1.Order.coupon removed (the column stays in the warehouse)
SELECT id, coupon FROM orders;
