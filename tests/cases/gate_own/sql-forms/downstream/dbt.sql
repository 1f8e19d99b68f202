-- contract: shop.v1.Order
{{ config(materialized='table') }}
select
    id,
    upper(coupon) as code
from {{ ref('orders') }}
