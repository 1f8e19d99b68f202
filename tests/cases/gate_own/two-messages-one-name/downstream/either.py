from order_pb2 import Invoice, Order


def text(doc: Order | Invoice) -> str:
    return doc.note
