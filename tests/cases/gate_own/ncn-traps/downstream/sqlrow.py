import sqlite3

from order_pb2 import Order


def orders(connection: sqlite3.Connection) -> list:
    connection.row_factory = sqlite3.Row
    return [Order(id=row["code"]) for row in connection.execute("select code from codes")]
