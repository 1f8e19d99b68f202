-- contract: shop.v1.Order
-- contract-ack: shop.v1.Order.coupon removed (the column stays in the warehouse)
SELECT coupon FROM sales.orders;
