"""Test doubles whose spec is of a contract: their names are uses of it, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.verdicts.folder import Folder

BEFORE = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
message Buyer { string mail = 1; string name = 2; }
message Order { string id = 1; string coupon = 2; Buyer buyer = 3; string code = 4; string note = 5; }
service Shop { rpc Get(Order) returns (Buyer); rpc Drop(Order) returns (Buyer); }
"""
AFTER = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
message Buyer { reserved 1; reserved "mail"; string name = 2; }
message Order {
  string id = 1; reserved 2; reserved "coupon"; Buyer buyer = 3;
  string code = 4 [(buf.validate.field).string.max_len = 3]; string note = 5;
}
service Shop { rpc Get(Order) returns (Buyer); }
"""
HEAD = "from unittest.mock import AsyncMock, MagicMock, Mock, create_autospec, patch\n"
#: After the first line: verdict and lines.
ROWS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "a keyword": (
        "from shop_pb2 import Order\norder = Mock(spec=Order, id='1',\n             coupon='a')\n", "not_adapted", (4,),
    ),
    "spec_set, through a module": (
        "import shop_pb2 as pb\norder = MagicMock(spec_set=pb.Order, coupon='a')\n", "not_adapted", (3,),
    ),
    "an attribute": (
        "from shop_pb2 import Order\n\ndef test():\n    order = create_autospec(Order, instance=True)\n"
        "    order.coupon = 'a'\n    assert order.id\n", "not_adapted", (6,),
    ),
    "an instance, and what is inside": (
        "from shop_pb2 import Order\norder = create_autospec(Order())\norder.buyer.mail = 'x'\n", "not_adapted", (4,),
    ),
    "a keyword with a dot": (
        "from shop_pb2 import Order\norder = Mock(spec=Order, **{'buyer.mail': 'x'})\n", "not_adapted", (3,),
    ),
    "configure_mock": (
        "from shop_pb2 import Order\norder = Mock(Order)\norder.configure_mock(coupon='a')\n", "not_adapted", (4,),
    ),
    "an attribute of self": (
        "from shop_pb2 import Order\n\nclass Test:\n    def setup_method(self):\n"
        "        self.order = Mock(spec=Order)\n\n    def test(self):\n        self.order.coupon = 'a'\n",
        "not_adapted", (9,),
    ),
    "a fixture": (
        "import pytest\nfrom shop_pb2 import Order\n\n@pytest.fixture\ndef order():\n    made = Mock(spec=Order)\n"
        "    return made\n\ndef test(order):\n    assert order.coupon\n", "not_adapted", (11,),
    ),
    "patch.object": (
        "from shop_pb2 import Order\n\ndef test():\n    with patch.object(Order, 'coupon'):\n        pass\n",
        "not_adapted", (5,),
    ),
    "a stub": (
        "from shop_pb2_grpc import ShopStub\nstub = create_autospec(ShopStub)\nstub.Drop.return_value = None\n",
        "not_adapted", (4,),
    ),
    "an rpc that stays": (
        "from shop_pb2_grpc import ShopStub\nstub = AsyncMock(spec=ShopStub)\nstub.Get.return_value = None\n",
        "unaffected", (),
    ),
    "other fields": (
        "from shop_pb2 import Order\norder = Mock(spec=Order, id='1')\norder.note = 'x'\n", "unaffected", (),
    ),
    "a value that a rule would refuse": (
        "from shop_pb2 import Order\norder = Mock(spec=Order, code='much too long')\n", "unaffected", (),
    ),
    "what every mock has": (
        "from shop_pb2 import Order\norder = Mock(spec=Order, name='coupon', return_value='coupon')\n"
        "order.assert_not_called()\n", "unaffected", (),
    ),
    "another spec": (
        "from shop_pb2 import Buyer\n\nclass Order:\n    coupon = ''\n\norder = Mock(spec=Order, coupon='a')\n"
        "order.coupon = Buyer().name\n", "unaffected", (),
    ),
    "no spec": (
        "from shop_pb2 import Buyer\norder = Mock(coupon='a', x=Buyer)\norder.coupon = 'a'\n", "unaffected", (),
    ),
    "the same name in another function": (
        "from shop_pb2 import Order\n\ndef one():\n    order = Mock(spec=Order)\n    return order.id\n\n"
        "class Ticket:\n    coupon = ''\n\ndef other(order: Ticket):\n    return order.coupon.strip()\n",
        "unaffected", (),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleVerdict]:
    """All rows, judged at once."""
    root = tmp_path_factory.mktemp("rows")
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir()
        (root / side / "shop.proto").write_text(text)
    folder: Path = root / "modules"
    folder.mkdir()
    for at, (text, _, _) in enumerate(ROWS.values()):
        (folder / f"test_row{at}.py").write_text(HEAD + text)
    files = sorted(each.name for each in folder.iterdir())
    states = (read(str(root / side)) for side in ("before", "after"))
    return {each.file: each for each in Folder(folder, files, *states).verdicts()}


@pytest.mark.parametrize("name", ROWS)
def test_verdict(name: str, verdicts: dict[str, ModuleVerdict]) -> None:
    _, verdict, lines = ROWS[name]
    found = verdicts[f"test_row{list(ROWS).index(name)}.py"]
    assert (found.verdict, found.lines) == (verdict, lines), found
