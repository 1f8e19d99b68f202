from page_pb2 import Book, Page


def names(page: Page) -> list:
    return [field.name for field, _ in page.ListFields()] + [Page.DESCRIPTOR.name, Book.DESCRIPTOR.fields[0].name]
