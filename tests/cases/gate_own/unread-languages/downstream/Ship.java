package app;

import shop.v1.OrderOuterClass.Order;

class Ship {
  // order.getShipTo() was here
  String place(Order order) {
    return order.getShipTo();
  }
}
