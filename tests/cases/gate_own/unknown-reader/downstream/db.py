import sqlite3
from order_pb2 import Order
def f(con, raw):
    con.execute("insert into t values (?)", (Order.FromString(raw).code,))
