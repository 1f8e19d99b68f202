-- contract: shop.v1.Order
SELECT id, buyer_mail FROM sales.orders;
