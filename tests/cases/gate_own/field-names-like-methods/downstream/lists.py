from page_pb2 import Book, Page


def where(book: Book, page: Page) -> int:
    pages: list[Page] = list(book.pages)
    return pages.index(page) + pages.count(page)


def keys(book: Book) -> list:
    found: dict[str, Page] = dict(book.by_key)
    return [key for key, _ in found.items()] + list(found.keys()) + list(book.by_key.keys()) + list(book.by_key.items())
