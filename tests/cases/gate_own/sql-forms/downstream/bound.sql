-- contract: shop.v1.Order
SELECT id, coupon
FROM sales.orders;
