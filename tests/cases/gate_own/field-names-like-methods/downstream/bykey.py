from page_pb2 import Book


def text(book: Book) -> str:
    return book.by_key["a"].name
