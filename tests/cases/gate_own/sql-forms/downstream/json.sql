-- contract: shop.v1.Order for events.payload
SELECT payload ->> 'coupon' AS code
FROM events;
