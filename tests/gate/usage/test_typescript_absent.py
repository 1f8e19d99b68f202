"""Names in TypeScript that the contracts do not have: a pull request that touches a module alone is judged by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.sources import read
from protocontract_ci.usage.typescript import prepare
from protocontract_ci.verdicts.own import Absent, absent_in_typescript
from tests.gate.company import company

pytestmark = pytest.mark.skipif(
    not prepare.ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

PROTO = """
syntax = "proto3";
package shop.v1;
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; }
message Buyer { string mail = 1; }
message Order { string id = 1; State state = 2; Buyer buyer = 3; repeated Buyer others = 4; }
"""
MODULE = """\
import { create } from "@bufbuild/protobuf";
import { type Order, OrderSchema, State, Refund } from "./gen/order_pb.js";
export const a = (o: Order) => o.idd;
export const b = (o: Order) => o.buyer?.phone;
export const c = ({ coupon }: Order) => coupon;
export const d = create(OrderSchema, { id: "1", note: "x" });
export const e = (o: Order) => o.state === State.LOST;
export const f = (o: Order) => o.others[0].fax;
export const g = (o: Order) => (o as any).anything;
export const h = (o: Order) => o.id.lenght + o.id.length;
export const i = (o: { idd: string }) => o.idd + o.other;
"""


def test_what_is_missing_is_told_of_elements_alone(tmp_path: Path) -> None:
    (tmp_path / "order.proto").write_text(PROTO)
    (tmp_path / "a.ts").write_text(MODULE)
    found = absent_in_typescript(tmp_path, ["a.ts", "b.py"], read(str(tmp_path / "order.proto")))
    assert [(each.line, each.path) for each in found] == [
        (2, "shop.v1.Refund"), (3, "shop.v1.Order.idd"), (4, "shop.v1.Buyer.phone"), (5, "shop.v1.Order.coupon"),
        (6, "shop.v1.Order.note"), (7, "shop.v1.State.LOST"), (8, "shop.v1.Buyer.fax"),
    ]  # fmt: skip
    assert found[0] == Absent("a.ts", 2, "shop.v1", "Refund")


def test_a_change_of_a_module_alone_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'import type { NamedEntity } from "../gen/acme/text/v1/text_pb.js";\n'
    files = {"training/shown.ts": text + "export const shown = (entity: NamedEntity) => entity.label;\n"}
    acme = company(tmp_path, capsys, files)
    assert acme.gate()[0] == 0
    acme.edit("training/shown.ts", ("entity.label", "entity.labl"))
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["kind"], finding["path"], finding["lines"]) == (
        1, "name_unknown", "acme.text.v1.NamedEntity.labl", [2],
    )  # fmt: skip
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.edit("training/shown.ts", ("entity.labl;", "entity.labl.trim();"))
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["findings"][0]["notice"]) == (0, True)
