use crate::pb::shop::v1::{Order, State};

fn sent(order: &Order) -> bool {
    order.state() == State::Sent
}
