from order_pb2 import Invoice, Order


def text(doc: Order | Invoice) -> str:
    if isinstance(doc, Invoice):
        return doc.note
    return doc.id
