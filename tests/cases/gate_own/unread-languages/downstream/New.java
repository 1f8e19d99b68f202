import shop.v1.OrderOuterClass.Order;

class New {
  String place(Order order) {
    return order.getDeliverTo();
  }
}
