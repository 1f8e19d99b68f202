import shop_pb2


class Table:
    def Drop(self, name: str) -> str:
        return name


def drop(table: Table) -> str:
    return table.Drop(shop_pb2.Ask(id="1").id)
