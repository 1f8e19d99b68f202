import shop.v1.order

fun note(text: String) = order { note = text }
