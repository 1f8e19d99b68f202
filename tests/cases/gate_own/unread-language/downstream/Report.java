import shop.v1.OrderOuterClass.Order;

public class Report {
  static String code(byte[] raw) throws Exception {
    return Order.parseFrom(raw).getCoupon();
  }
}
