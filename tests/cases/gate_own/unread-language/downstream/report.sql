SELECT id, coupon
FROM orders
WHERE coupon <> '';
