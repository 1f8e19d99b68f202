from page_pb2 import Page


def text(page: Page) -> str:
    return page.name + str(page.index)
