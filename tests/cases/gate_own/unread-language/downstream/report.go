package report

import shopv1 "example.com/gen/shop/v1"

func Code(o *shopv1.Order) string {
	return o.GetCoupon()
}
