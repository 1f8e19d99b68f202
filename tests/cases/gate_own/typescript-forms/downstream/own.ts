interface Voucher {
  coupon: string;
}
export const text = (v: Voucher): string => v.coupon;
