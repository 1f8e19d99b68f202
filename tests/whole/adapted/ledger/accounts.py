"""Which account a payment is booked to."""

from shop.v1.payment_pb2 import Currency, Payment


def account(payment: Payment) -> str:
    match payment.currency:
        case Currency.CURRENCY_CNY:
            return "1001"
        case Currency.CURRENCY_USD:
            return "1002"
        case Currency.CURRENCY_EUR:
            return "1003"
        case _:
            raise ValueError("no account for this currency")
