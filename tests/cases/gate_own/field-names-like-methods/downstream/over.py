from page_pb2 import Book


def text(book: Book) -> list:
    return [page.name for page in book.pages]
