def drop(channel, data: bytes) -> bytes:
    return channel.unary_unary("/shop.v1.Shop/Drop")(data)
