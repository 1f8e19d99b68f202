"""Uses in TypeScript: each row a module and what must be found in it, as ``line:last name:how``.

Needs Node.js and the packages of ``protocontract gate --prepare``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from protocontract_ci.sources import read
from protocontract_ci.usage.typescript.declarations import State
from protocontract_ci.usage.typescript.names import member_names, method_name, property_name, type_name
from protocontract_ci.usage.typescript.prepare import ready
from protocontract_ci.usage.typescript.reader import TypeScriptUses, read_typescript
from protocontract_compiler import ir

pytestmark = pytest.mark.skipif(
    not ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

PROTO = """
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; STATE_DONE = 2; }
message Buyer { string mail = 1; optional string nick_name = 2; }
message Order {
  string id = 1;
  string coupon = 2;
  State state = 3;
  Buyer buyer = 4;
  repeated Item items = 5;
  map<string, Buyer> others = 6;
  oneof how { string card = 7; string iban = 8; Buyer by_buyer = 11; }
  google.protobuf.Timestamp at = 9;
  repeated string tags = 10;
  message Item { string sku = 1; int32 qty = 2; enum Kind { KIND_A = 0; KIND_B = 1; } Kind kind = 3; }
}
message Reply { Order order = 1; }
service Shop { rpc GetOrder(Order) returns (Reply); rpc Watch(Order) returns (stream Reply); }
"""

ROWS = {
    "aliases of imports and types": (
        """
        import { type Order as Bought, OrderSchema as S } from "./gen/order_pb.js";
        type Mine = Bought;
        export const code = (o: Mine): string => o.coupon;
        export const name = S.typeName;
        """,
        {"1:Order:type_only", "1:Order:import", "2:Order:type_only", "3:coupon:read", "4:Order:call"},
    ),
    "a whole module under a name": (
        """
        import * as pb from "../gen/order_pb";
        export const open = (o: pb.Order): boolean => o.state === pb.State.OPEN;
        """,
        {"2:Order:type_only", "2:state:read", "2:STATE_OPEN:enum_value"},
    ),
    "re-exported by a file of its own": (
        """
        export { OrderSchema, type Order } from "./gen/order_pb.js";
        export * from "./gen/order_pb.js";
        """,
        {"1:Order:import", "1:Order:type_only", "1:order.proto:import"},
    ),
    "destructuring": (
        """
        import type { Order } from "./gen/order_pb.js";
        export function f({ coupon, buyer: { mail = "" } = {} as any, ...rest }: Order): string {
          const { id, how: { case: kind } } = rest;
          return coupon + mail + id + (kind === "card" ? 1 : 2);
        }
        export const g = (all: Order[]): string[] => all.map(({ id }) => id);
        """,
        {"2:coupon:read", "2:buyer:has", "3:id:read", "3:how:read", "4:card:which_oneof", "6:id:read"},
    ),
    "creating, nested": (
        """
        import { create } from "@bufbuild/protobuf";
        import { OrderSchema, Order_Item_Kind, State } from "./gen/order_pb.js";
        const id = "1";
        export const order = create(OrderSchema, {
          id,
          buyer: { mail: "a", nickName: "b" },
          items: [{ sku: "s", kind: Order_Item_Kind.B }],
          others: { x: { mail: "y" } },
          state: State.OPEN,
          how: { case: "byBuyer", value: { mail: "z" } },
        });
        """,
        {
            "4:Order:construct", "5:id:construct", "6:buyer:construct", "6:mail:construct", "6:nick_name:construct",
            "7:sku:construct", "7:kind:construct", "7:KIND_B:enum_value", "8:mail:construct", "9:STATE_OPEN:enum_value",
            "10:how:construct", "10:by_buyer:construct", "10:mail:construct",
        },
    ),
    "an initializer made before, and spread": (
        """
        import { create, type MessageInitShape } from "@bufbuild/protobuf";
        import { OrderSchema } from "./gen/order_pb.js";
        const init = { id: "1", coupon: "c" };
        export const one = create(OrderSchema, init);
        export const two = create(OrderSchema, { ...init, id: "2" });
        export const three: MessageInitShape<typeof OrderSchema> = { coupon: "d" };
        export const four = (rest: Record<string, string>) => create(OrderSchema, { ...rest });
        """,
        {"3:coupon:construct", "5:id:construct", "6:coupon:construct", "7:coupon:construct?"},
    ),
    "writes, through items and methods": (
        """
        import type { Order } from "./gen/order_pb.js";
        export function fill(o: Order): void {
          o.coupon = "c";
          o.id += "x";
          o.items.push();
          o.items[0].qty = 2;
          o.others["a"].mail = "m";
          delete o.buyer;
          o.how = { case: "card", value: "4" };
          ({ coupon: o.id } = o);
        }
        """,
        {
            "3:coupon:write", "4:id:write", "5:items:write", "6:qty:write", "6:items:write", "7:mail:write",
            "7:others:write", "8:buyer:clear", "9:how:write", "9:card:construct", "10:coupon:read",
        },
    ),
    "presence": (
        """
        import { isFieldSet, clearField } from "@bufbuild/protobuf";
        import { type Buyer, BuyerSchema } from "./gen/order_pb.js";
        export const a = (b: Buyer): string => b.nickName ?? "none";
        export const c = (b: Buyer): boolean => b.nickName !== undefined;
        export const d = (b: Buyer): boolean => typeof b.nickName === "undefined";
        export const e = (b: Buyer): string => b.nickName?.trim().toLowerCase() ?? "none";
        export const f = (b: Buyer): boolean => "nickName" in b;
        export const g = (b: Buyer): boolean => isFieldSet(b, BuyerSchema.field.nickName);
        export const h = (b: Buyer): void => clearField(b, BuyerSchema.field.nickName);
        export const i = (b: Buyer): string => b.nickName || "none";
        """,
        {f"{line}:nick_name:has" for line in range(3, 9)} | {"9:nick_name:clear", "10:nick_name:read"},
    ),
    "optional chaining and narrowing": (
        """
        import type { Order } from "./gen/order_pb.js";
        export const a = (o?: Order): string | undefined => o?.buyer?.mail;
        export function b(o: Order): string {
          if (o.how.case === "byBuyer") return o.how.value.mail;
          return o.how.value ?? "";
        }
        """,
        {
            "2:buyer:read", "2:mail:read", "4:by_buyer:which_oneof", "4:by_buyer:read", "4:mail:read", "5:card:has",
            "5:iban:has",
        },
    ),
    "generics and keys": (
        """
        import type { Order } from "./gen/order_pb.js";
        const pick = <T, K extends keyof T>(o: T, k: K): T[K] => o[k];
        const field = (o: Order, k: keyof Order) => o[k];
        export const a = (o: Order) => pick(o, "coupon");
        export const b = (o: Order) => field(o, "state");
        export const d = (o: Order) => (["id", "tags"] as const).map((k) => o[k]);
        export type Part = Pick<Order, "coupon" | "buyer">;
        export const e = (p: Part) => p.coupon;
        export type Mail = Order["buyer"];
        export const g = (o: Partial<Order>) => o.coupon;
        """,
        {
            "4:coupon:reflection", "5:state:reflection", "6:id:reflection", "6:tags:reflection", "7:coupon:type_only",
            "8:coupon:read", "9:buyer:type_only", "10:coupon:read",
        },
    ),
    "hidden by a cast": (
        """
        import type { Order } from "./gen/order_pb.js";
        export const a = (o: Order): string => (o as any).coupon;
        export function b(o: Order): unknown {
          const loose = o as unknown as Record<string, unknown>;
          return loose["coupon"];
        }
        """,
        {"2:coupon:read", "5:coupon:read"},
    ),
    "a helper without types": (
        """
        import type { Order } from "./gen/order_pb.js";
        function helper(thing: any) { return thing.coupon; }
        export const a = (o: Order) => helper(o);
        export function other(thing: any) { return thing.coupon; }
        """,
        {"2:coupon:read", "4:coupon:read?"},
    ),
    "switch with an answer for others": (
        """
        import { State, type Order } from "./gen/order_pb.js";
        export function a(o: Order): string {
          switch (o.state) { case State.OPEN: return "open"; default: return "other"; }
        }
        export function b(o: Order): string {
          switch (o.how.case) { case "card": return "card"; case "iban": return "iban"; }
          return "other";
        }
        """,
        {"3:State:match_closed", "3:STATE_OPEN:enum_value", "6:how:match_closed", "6:card:which_oneof"},
    ),
    "switch without one": (
        """
        import { State, type Order } from "./gen/order_pb.js";
        const never = (x: never): never => { throw new Error(String(x)); };
        export function a(o: Order): string {
          switch (o.state) {
            case State.UNSPECIFIED: return "";
            case State.OPEN: return "open";
            case State.DONE: return "done";
            default:
              return never(o.state);
          }
        }
        export function b({ how }: Order): string {
          switch (how.case) {
            case "card": return "card";
            case "iban": return "iban";
            default:
              throw new Error("unknown");
          }
        }
        export function d(o: Order): void {
          const kind = o.how.case;
          switch (kind) { case "card": console.log(1); break; case "iban": console.log(2); }
        }
        export function e(state: State): string {
          if (state === State.UNSPECIFIED) return "";
          if (state === State.OPEN || state === State.DONE) return "x";
          return state satisfies never;
        }
        """,
        {"9:State:match_open", "17:how:match_open", "22:how:match_open", "27:State:match_open"},
    ),
    "if chains": (
        """
        import { State, type Order } from "./gen/order_pb.js";
        export function a(o: Order): string | undefined {
          if (o.state === State.OPEN) { return "open"; }
          else if (o.state === State.DONE) { return "done"; }
        }
        export function b(o: Order): string {
          if (o.how.case === "card") return "card";
          else if (o.how.case === "iban") return "iban";
          return "other";
        }
        """,
        {"3:State:match_open", "7:how:match_closed"},
    ),
    "tables": (
        """
        import { State, type Order } from "./gen/order_pb.js";
        const WORDS: Record<State, string> = { [State.UNSPECIFIED]: "", [State.OPEN]: "o", [State.DONE]: "d" };
        const FEES: { [k: string]: number } = { card: 1, iban: 2 };
        const SOME: Partial<Record<State, string>> = { [State.OPEN]: "o" };
        const FULL = { [State.UNSPECIFIED]: 0, [State.OPEN]: 1, [State.DONE]: 2 } satisfies Record<State, number>;
        const MAP = new Map([[State.OPEN, "o"]]);
        export const a = (o: Order) => WORDS[o.state];
        export const b = (o: Order) => FEES[o.how.case ?? ""];
        export const d = (o: Order) => FEES[o.how.case!] ?? 0;
        export const e = (o: Order) => SOME[o.state] ?? "none";
        export const g = (o: Order) => FULL[o.state];
        export const h = (o: Order) => MAP.get(o.state)!;
        export const i = (o: Order) => MAP.get(o.state) ?? "none";
        export const j = (o: Order) => FEES[o.how.case!];
        """,
        {
            "2:State:match_open", "3:card:which_oneof", "9:how:match_closed", "10:State:match_closed",
            "5:State:match_open", "12:State:match_open", "13:State:match_closed", "14:how:match_open",
        },
    ),
    "names and numbers of enums": (
        """
        import { State, type Order } from "./gen/order_pb.js";
        export const a = (o: Order): string => State[o.state];
        export const b = (o: Order): boolean => State[o.state] === "OPEN";
        export const d = State["DONE"];
        export const e = State[1];
        export const g = (o: Order): boolean => (o.state as number) === 2 || o.state === 1;
        export const h = Object.values(State);
        """,
        {
            "3:STATE_OPEN:enum_value", "4:STATE_DONE:enum_value", "5:STATE_OPEN:enum_value", "6:STATE_OPEN:enum_value",
            "7:State:read",
        },
    ),
    "JSON by keys": (
        """
        import { create, fromJson, toJson, toJsonString } from "@bufbuild/protobuf";
        import { type Order, type OrderJson, OrderSchema } from "./gen/order_pb.js";
        export function a(o: Order): unknown {
          const row = toJson(OrderSchema, o) as Record<string, any>;
          return row["coupon"] ?? row.buyer.nickName ?? row.state === "STATE_OPEN";
        }
        export const b = (o: Order) => JSON.parse(toJsonString(OrderSchema, o)).coupon;
        export const d = fromJson(OrderSchema, { coupon: "x", buyer: { nick_name: "y" }, state: "STATE_DONE" });
        export const e = (o: OrderJson) => o.coupon;
        export function g(o: Order) { const { coupon } = toJson(OrderSchema, o) as any; return coupon; }
        """,
        {
            "5:coupon:json_name", "5:buyer:json_name", "5:nick_name:json_name", "5:STATE_OPEN:enum_value",
            "7:coupon:json_name", "8:coupon:json_name", "8:nick_name:json_name", "8:STATE_DONE:enum_value",
            "9:coupon:json_name", "10:coupon:json_name",
        },
    ),
    "clients and servers": (
        """
        import { createClient, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
        import { Shop } from "./gen/order_pb.js";
        export async function a(transport: any): Promise<string> {
          const client = createClient(Shop, transport);
          for await (const each of client.watch({ id: "1" })) console.log(each.order?.coupon);
          return (await client.getOrder({ id: "1", coupon: "c" })).order?.coupon ?? "";
        }
        export const routes = (router: ConnectRouter) => router.service(Shop, {
          getOrder(request) { return { order: { id: request.coupon } }; },
        });
        export class Server implements Partial<ServiceImpl<typeof Shop>> {
          async getOrder() { return { order: { coupon: "x" } }; }
        }
        """,
        {
            "2:Shop:import", "5:Watch:call", "5:coupon:read", "6:GetOrder:call", "6:coupon:construct", "6:coupon:has",
            "9:GetOrder:subclass", "9:coupon:read", "12:GetOrder:subclass",
        },
    ),
    "binary, dates and full names": (
        """
        import { fromBinary, toBinary } from "@bufbuild/protobuf";
        import { timestampDate } from "@bufbuild/protobuf/wkt";
        import { OrderSchema } from "./gen/order_pb.js";
        export const a = (raw: Uint8Array) => timestampDate(fromBinary(OrderSchema, raw).at!).getTime();
        export const b = (raw: Uint8Array) => toBinary(OrderSchema, fromBinary(OrderSchema, raw));
        export const name = "type.googleapis.com/shop.v1.Order";
        """,
        {"4:at:read", "4:Order:read", "5:Order:write", "6:Order:reflection"},
    ),
    "a class and its own fields": (
        """
        import { fromBinary } from "@bufbuild/protobuf";
        import { type Order, OrderSchema } from "./gen/order_pb.js";
        export class Box {
          #all: Order[] = [];
          add(raw: Uint8Array): void { this.#all.push(fromBinary(OrderSchema, raw)); }
          codes(): Set<string> { return new Set(this.#all.map((each) => each.coupon)); }
          get first(): Order | undefined { return this.#all[0]; }
          mail(): string { return this.first!.buyer!.mail; }
        }
        """,
        {"6:coupon:read", "8:buyer:read", "8:mail:read"},
    ),
    "letters beyond ASCII": (
        """
        import type { Order } from "./gen/order_pb.js";
        export const a = (o: Order): string => `é😀 ${o.coupon}`;
        """,
        {"2:coupon:read@48"},
    ),
}  # fmt: skip
TSX = """
import { State, type Order } from "./gen/order_pb.js";
type Props = { order: Order };
export function Row({ order }: Props) {
  return <li className={order.state === State.OPEN ? "open" : ""}>{order.coupon}</li>;
}
export const all = (orders: Order[]) => orders.map((each) => <Row key={each.id} order={each} />);
"""
NOT_USES = {
    "words of others": """
        import type { Order } from "./gen/order_pb.js";
        interface Voucher { coupon: string }
        /** The coupon of an order. */
        export const a = (v: Voucher, o: Order): string => v.coupon + o.id;
        export const b = (row: Record<string, string>) => row["coupon"] + row.coupon;
        export const c = (): Voucher => ({ coupon: "coupon" });
        """,
    "what another service sent": """
        import type { Order } from "./gen/order_pb.js";
        import express from "express";
        export async function a(o: Order): Promise<string> {
          const body = await (await fetch("/x")).json();
          return body.coupon + JSON.parse(o.id).coupon;
        }
        express().get("/", (request: express.Request) => request.body.coupon);
        """,
    "every key that there is": """
        import type { Order } from "./gen/order_pb.js";
        export function a(o: Order): unknown[] {
          const loose = o as unknown as Record<string, unknown>;
          for (const key in loose) console.log(loose[key]);
          for (const key of Object.keys(loose)) console.log(loose[key]);
          return Object.keys(loose).map((key) => loose[key]);
        }
        """,
    "a file that never saw the contract": """
        export const a = (thing: any) => thing.coupon;
        """,
    "a name of the file's own": """
        import type { Order } from "./gen/order_pb.js";
        enum State { OPEN = 1 }
        export const a = (o: Order): boolean => o.id === String(State.OPEN);
        """,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("coupon_code", "couponCode"), ("field_1_a", "field1A"), ("a__b", "aB"), ("_x", "X"), ("x_", "x"),
        ("to_string", "toString$"), ("constructor", "constructor$"), ("default", "default"), ("UPPER", "UPPER"),
    ],
)  # fmt: skip
def test_names_of_properties(name: str, expected: str) -> None:
    """As protoc-gen-es 2.13 wrote them."""
    assert property_name(name) == expected


@pytest.mark.parametrize(
    ("enum", "values", "expected"),
    [
        ("State", ["STATE_UNSPECIFIED", "STATE_OPEN"], ["UNSPECIFIED", "OPEN"]),
        ("HTTPCode", ["H_T_T_P_CODE_OK", "H_T_T_P_CODE_NO"], ["OK", "NO"]),
        ("HTTPCode", ["HTTP_CODE_OK", "HTTP_CODE_NO"], ["HTTP_CODE_OK", "HTTP_CODE_NO"]),
        ("Mixed", ["MIXED_A", "OTHER"], ["MIXED_A", "OTHER"]),
        ("Number", ["NUMBER_1", "NUMBER_TWO"], ["NUMBER_1", "NUMBER_TWO"]),
        ("Kind", ["KIND_", "KIND_A"], ["KIND_", "KIND_A"]),
    ],
)
def test_names_of_members(enum: str, values: list[str], expected: list[str]) -> None:
    """As protoc-gen-es 2.13 wrote them."""
    declared = ir.Enum(enum, tuple(ir.EnumValue(name, at) for at, name in enumerate(values)), False, "a.proto")
    assert list(member_names(declared).values()) == expected


def test_names_of_types() -> None:
    names = [type_name(name, "shop.v1") for name in ("shop.v1.Order.Item", "shop.v1.Object", "shop.v1.default")]
    assert names == ["Order_Item", "Object$", "default$"]
    assert type_name("shop.v1.Object", "shop.v1", "Schema") == "ObjectSchema"
    assert [method_name(name) for name in ("GetOrder", "ToString")] == ["getOrder", "toString$"]


def written(folder: Path, files: dict[str, str]) -> Path:
    """Writes a contract and modules."""
    (folder / "order.proto").write_text(PROTO, encoding="utf-8")
    for name, text in files.items():
        lines = text.removeprefix("\n").split("\n")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(line.removeprefix("        ") for line in lines), encoding="utf-8")
    return folder


def uses(folder: Path, files: dict[str, str]) -> TypeScriptUses:
    written(folder, files)
    return read_typescript(folder, files, State.of(read(str(folder / "order.proto"))))


def shown(found: TypeScriptUses, file: str) -> set[str]:
    """``line:name:how``, and the same with the column."""
    plain = {
        f"{use.line}:{use.path.rpartition('.')[2] if use.path != 'order.proto' else use.path}:{use.how}"
        f"{'' if use.certain else '?'}"
        for use in found.uses.get(file, [])
    }
    return plain | {f"{u.line}:{u.path.rpartition('.')[2]}:{u.how}@{u.column}" for u in found.uses.get(file, [])}


def file_of(name: str) -> str:
    return f"{name.replace(' ', '_').replace(',', '').replace(chr(39), '')}.ts"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> TypeScriptUses:
    """All rows, read by one process."""
    rows: Iterable[tuple[str, str]] = [*((name, text) for name, (text, _) in ROWS.items()), *NOT_USES.items()]
    files = {file_of(name): text for name, text in rows}
    return uses(tmp_path_factory.mktemp("rows"), {**files, "row.tsx": TSX})


@pytest.mark.parametrize("name", ROWS)
def test_uses(name: str, found: TypeScriptUses) -> None:
    expected = ROWS[name][1]
    all_uses = shown(found, file_of(name))
    assert expected <= all_uses, f"missing {expected - all_uses}, found {sorted(u for u in all_uses if '@' not in u)}"


@pytest.mark.parametrize("name", NOT_USES)
def test_no_uses(name: str, found: TypeScriptUses) -> None:
    assert not {use for use in shown(found, file_of(name)) if "coupon" in use or "STATE_OPEN" in use}


def test_closed_where_it_is_closed(found: TypeScriptUses) -> None:
    closed = shown(found, file_of("switch with an answer for others"))
    assert not {use for use in closed if "match_open" in use}


def test_components(found: TypeScriptUses) -> None:
    expected = {"4:state:read", "4:STATE_OPEN:enum_value", "4:coupon:read", "6:id:read"}
    assert expected <= shown(found, "row.tsx")
