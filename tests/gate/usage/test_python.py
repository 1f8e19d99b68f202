"""Uses in Python: each row a module and what must be found in it, as ``line:last name:how``."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from protocontract_ci.sources import read
from protocontract_ci.usage.python.reader import PythonUses, Reading, read_together
from protocontract_ci.usage.python.shared import Shared
from protocontract_ci.usage.vocabulary import Elements

PROTO = """
syntax = "proto3";
package shop.v1;
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; STATE_DONE = 2; }
message Buyer { string mail = 1; }
message Order {
  string id = 1;
  string coupon = 2;
  State state = 3;
  Buyer buyer = 4;
  repeated Item items = 5;
  map<string, Buyer> others = 6;
  oneof how { string card = 7; string iban = 8; }
  message Item { string sku = 1; int32 qty = 2; enum Kind { KIND_A = 0; KIND_B = 1; } Kind kind = 3; }
}
message Reply { Order order = 1; }
service Shop { rpc Get(Order) returns (Reply); rpc Watch(Order) returns (stream Reply); }
"""

ROWS = {
    "a helper without types": (
        """
        import order_pb2
        def load(raw):
            return order_pb2.Order.FromString(raw)
        def helper(thing):
            return thing.coupon
        def main(raw):
            return helper(load(raw))
        """,
        {"6:coupon:read"},
    ),
    "a message inside a message, by a name that is computed": (
        """
        from order_pb2 import Order
        def shown(item: Order.Item) -> str:
            return item.sku + str(getattr(item, input()))
        """,
        {"4:sku:read", "4:qty:reflection?"},
    ),
    "attributes of objects and comprehensions": (
        """
        from order_pb2 import Order
        class Box:
            def __init__(self, raw):
                self.all = [Order.FromString(each) for each in raw]
            def coupons(self):
                return {each.coupon for each in self.all}
        """,
        {"7:coupon:read"},
    ),
    "writes through items, maps and methods": (
        """
        from order_pb2 import Order
        def fill(order: Order) -> None:
            order.items.add(sku="a")
            order.items[0].qty = 2
            order.others["a"].mail = "x"
            order.buyer.CopyFrom(order.buyer)
            order.coupon += "x"
            del order.items[:]
        """,
        {
            "4:items:write",
            "4:sku:construct",
            "5:qty:write",
            "5:items:write",
            "6:others:write",
            "7:buyer:write",
            "8:coupon:write",
            "9:items:write",
        },
    ),
    "nested messages, enums and their values": (
        """
        from order_pb2 import Order
        item = Order.Item(kind=Order.Item.KIND_B, sku="x")
        other = Order.Item(kind="KIND_A")
        third = Order.Item.Kind.Value("KIND_B")
        """,
        {"3:KIND_B:enum_value", "3:kind:construct", "4:KIND_A:enum_value", "5:KIND_B:enum_value"},
    ),
    "dictionaries as messages": (
        """
        from order_pb2 import Order
        def make(**rest):
            return Order(id="1", buyer={"mail": "x"}, items=[{"sku": "a", "kind": "KIND_A"}]), Order(**{"coupon": "c"})
        """,
        {"4:mail:construct", "4:sku:construct", "4:KIND_A:enum_value", "4:coupon:construct"},
    ),
    "JSON by keys, nested": (
        """
        from google.protobuf import json_format
        from order_pb2 import Order
        def mail(raw):
            row = json_format.MessageToDict(Order.FromString(raw))
            return row["buyer"]["mail"] if "coupon" in row else row.get("state") == "STATE_OPEN"
        """,
        {"6:buyer:json_name", "6:mail:json_name", "6:coupon:json_name", "6:state:json_name", "6:STATE_OPEN:enum_value"},
    ),
    "names that are put together": (
        """
        import order_pb2
        FIELDS = ("id", "coupon")
        def read(raw, which):
            order = order_pb2.Order.FromString(raw)
            first = {name: getattr(order, name) for name in FIELDS}
            return first, getattr(order, "cou" + which), order.HasField("buyer"), order.ClearField("id")
        """,
        {"6:id:reflection", "6:coupon:reflection", "7:coupon:reflection?", "7:buyer:has", "7:id:clear"},
    ),
    "match over a oneof, open": (
        """
        from order_pb2 import Order
        def pay(order: Order):
            kind = order.WhichOneof("how")
            match kind:
                case "card":
                    return 1
                case "iban":
                    return 2
        """,
        {"4:how:which_oneof", "5:how:match_open", "6:card:which_oneof", "8:iban:which_oneof"},
    ),
    "match over an enum, closed": (
        """
        import order_pb2 as pb
        def word(order: pb.Order) -> str:
            match order.state:
                case pb.STATE_OPEN:
                    return "open"
                case _:
                    return "other"
        """,
        {"4:State:match_closed", "5:STATE_OPEN:enum_value"},
    ),
    "an if chain that falls through": (
        """
        import order_pb2 as pb
        def word(order: pb.Order):
            if order.state == pb.STATE_OPEN:
                return "open"
            elif order.state == pb.STATE_DONE:
                return "done"
        def number(order: pb.Order):
            return order.state == 2
        """,
        {"4:State:match_open", "9:STATE_DONE:enum_value"},
    ),
    "stubs and servicers": (
        """
        import order_pb2, order_pb2_grpc
        def call(channel):
            stub = order_pb2_grpc.ShopStub(channel)
            return stub.Get(order_pb2.Order()).order.coupon, [each.order for each in stub.Watch(order_pb2.Order())]
        class Server(order_pb2_grpc.ShopServicer):
            def Get(self, request, context):
                return order_pb2.Reply(order=request)
        """,
        {"5:Get:call", "5:coupon:read", "5:Watch:call", "5:order:read", "7:Get:subclass", "8:order:construct"},
    ),
    "a module imported by a text": (
        """
        import importlib
        def code(raw):
            pb = importlib.import_module("order_pb2")
            return pb.Order.FromString(raw).coupon
        """,
        {"5:Order:read", "5:coupon:read"},
    ),
    "f-strings and letters beyond ASCII": (
        """
        from order_pb2 import Order
        def text(order: Order) -> str:
            return f"é😀 {order.coupon!r:>10} {order.buyer.mail}", "é", order.id
        """,
        {"4:coupon:read", "4:mail:read", "4:id:read"},
    ),
    "a switch that is off": (
        """
        from order_pb2 import Order
        ON = False
        def read(raw):
            if ON:
                return Order.FromString(raw).coupon
        """,
        {"6:coupon:read"},
    ),
    "an unknown receiver in a file that imports the contract": (
        """
        import order_pb2
        def read(thing):
            return thing.coupon
        """,
        {"4:coupon:read?"},
    ),
}
NOT_USES = {
    "words of others": """
        from dataclasses import dataclass
        from order_pb2 import Order
        @dataclass
        class Voucher:
            coupon: str
        def one(row: dict, order: Order):
            \"\"\"The coupon of an order.\"\"\"
            return Voucher(coupon=row["coupon"]).coupon, order.id
        """,
    "a file that never saw the contract": """
        def read(thing):
            return thing.coupon
        """,
    "a name of the file's own": """
        from order_pb2 import *
        STATE_OPEN = "open"
        def read(order: Order):
            return order.id, STATE_OPEN
        """,
}  # fmt: skip


def uses(folder: Path, files: dict[str, str]) -> PythonUses:
    (folder / "order.proto").write_text(PROTO, encoding="utf-8")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    shared = Shared(Elements([read(str(folder / "order.proto")).schema]))
    (found,) = read_together([Reading(folder, files, shared, {})])
    return found


def shown(found: PythonUses, file: str = "module.py") -> set[str]:
    return {
        f"{use.line}:{use.path.rpartition('.')[2]}:{use.how}{'' if use.certain else '?'}"
        for use in found.uses.get(file, [])
    }


@pytest.mark.parametrize("name", ROWS)
def test_uses(name: str, tmp_path: Path) -> None:
    text, expected = ROWS[name]
    found = shown(uses(tmp_path, {"module.py": text}))
    assert expected <= found, f"missing {expected - found}, found {sorted(found)}"


@pytest.mark.parametrize("name", NOT_USES)
def test_no_uses(name: str, tmp_path: Path) -> None:
    found = shown(uses(tmp_path, {"module.py": NOT_USES[name]}))
    assert not {use for use in found if "coupon" in use or "STATE_OPEN" in use}


def test_a_helper_in_another_file(tmp_path: Path) -> None:
    found = uses(
        tmp_path,
        {
            "main.py": "from order_pb2 import Order\nfrom helper import read\nread(Order())\n",
            "helper.py": "def read(order):\n    return order.coupon\n",
        },
    )
    assert shown(found, "helper.py") == {"2:coupon:read"}


def test_a_package_with_relative_imports(tmp_path: Path) -> None:
    found = uses(
        tmp_path,
        {
            "app/__init__.py": "",
            "app/main.py": "from . import tools\nfrom order_pb2 import Order\ntools.read(Order())\n",
            "app/tools.py": "def read(order):\n    return order.coupon\n",
        },
    )
    assert "2:coupon:read" in shown(found, "app/tools.py")


def test_a_file_that_does_not_parse_is_said(tmp_path: Path) -> None:
    found = uses(tmp_path, {"broken.py": "def (:\n", "null.py": "a\0b"})
    assert {unread.file for unread in found.unread} == {"broken.py", "null.py"}


def test_nothing_is_the_same_twice(tmp_path: Path) -> None:
    files = {"module.py": ROWS["JSON by keys, nested"][0]}
    assert uses(tmp_path, files).uses == uses(tmp_path, files).uses


OWN_API = """
from order_contract import ERR_ORDER_COUPON_STRING_MIN_LEN, ORDER
from protocontract import Contract
from protocontract.kafka import Guard
def one(raw: bytes) -> str:
    return ORDER.parse(raw).coupon
def two(raw: bytes) -> str:
    outcome = ORDER.process(raw)
    return outcome.message.coupon if outcome.ok else ""
def three(consumer) -> None:
    with Guard(consumer, ORDER) as guard:
        for record in guard:
            print(record.message.coupon)
def four(consumer) -> None:
    Guard(consumer, ORDER).run(handle)
def handle(order):
    print(order.id)
def five(violation) -> bool:
    return violation.code == ERR_ORDER_COUPON_STRING_MIN_LEN
"""


def test_the_products_own_api(tmp_path: Path) -> None:
    found = shown(uses(tmp_path, {"module.py": OWN_API}))
    assert {"6:coupon:read", "9:coupon:read", "13:coupon:read"} <= found
    assert "19:ERR_ORDER_COUPON_STRING_MIN_LEN:error_code" in found
