from item_pb2 import Item


def item(message: Item) -> str:
    return message.code
