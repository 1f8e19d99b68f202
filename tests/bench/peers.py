"""The neighbours' side: the rules of shapes.proto as pydantic models, msgspec structs and JSON Schemas.

Wherever a neighbour has two ways to say a rule, it is given the cheaper one: a pattern instead of a library for
addresses, and in the pipeline json + fastjsonschema + pydantic the rules stand in the schema only; its pydantic model
has the types, and the one rule that JSON Schema cannot say.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from pydantic import AwareDatetime, BaseModel, Field, model_validator

Schema = dict[str, Any]

_COUNTRY = "^[A-Z]{2}$"
_UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
_LABEL = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = rf"^{_LABEL}(\.{_LABEL})*$"
# fastjsonschema replaces every dollar sign, also one in brackets: hence its number.
_EMAIL = rf"^[a-zA-Z0-9.!#\x24%&'*+/=?^_`{{|}}~-]+@{_LABEL}(\.{_LABEL})*$"
_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"^{_BYTE}(\.{_BYTE}){{3}}$"
_AFTER = datetime(2020, 1, 1, tzinfo=UTC)
_ORDER = "end_offset must be greater than start_offset"


# ----------------------------------------------------------------------------------------------------------------------
# pydantic


class Small(BaseModel):
    id: str = Field(min_length=1, max_length=64)
    country: str = Field(pattern=_COUNTRY)
    quantity: int = Field(ge=1, le=1000)
    price: float = Field(ge=0, lt=1000000)
    status: Literal["NEW", "PAID", "SENT"]


class Entity(BaseModel):
    text: str = Field(min_length=2)
    label: Literal["PERSON", "LOCATION", "ORGANIZATION"]
    start_offset: int = Field(ge=0)
    end_offset: int = Field(gt=0)

    @model_validator(mode="after")
    def in_order(self) -> Entity:
        """The rule across fields."""
        if self.end_offset <= self.start_offset:
            raise ValueError(_ORDER)
        return self


class Medium(BaseModel):
    id: str = Field(min_length=1, max_length=64)
    raw_text: str = Field(min_length=1, max_length=512)
    entities: list[Entity] = Field(max_length=256)


class Large(BaseModel):
    id: str = Field(pattern=_UUID)
    email: str = Field(pattern=_EMAIL, max_length=254)
    host: str = Field(pattern=_HOST, max_length=253)
    address: str = Field(pattern=_IPV4)
    text: str = Field(min_length=1, max_length=4096)
    entities: list[Entity] = Field(min_length=1, max_length=256)
    labels: dict[Annotated[str, Field(min_length=1, max_length=32)], Annotated[str, Field(max_length=128)]] = Field(
        max_length=64
    )
    counters: dict[str, Annotated[int, Field(ge=0)]]
    token_ids: list[Annotated[int, Field(ge=0, lt=250000)]] = Field(max_length=512)
    created_at: AwareDatetime = Field(gt=_AFTER)
    updated_at: AwareDatetime = Field(gt=_AFTER)


class One(BaseModel):
    id: str = Field(min_length=1, max_length=64)


class Item(BaseModel):
    sku: str = Field(min_length=1)
    count: int = Field(ge=-(2**31), le=2**31 - 1)
    price: float


class Listing(BaseModel):
    items: list[Item]


class Eleven(BaseModel):
    a: str = Field(min_length=3)
    b: str = Field(max_length=3)
    c: str = Field(pattern="^[a-z]+$")
    d: Literal["x", "y"]
    e: str = Field(pattern="^id-")
    f: int = Field(gt=0)
    g: int = Field(le=10)
    h: int = Field(ge=1, lt=5)
    i: float = Field(ge=0)
    j: list[int] = Field(min_length=1)
    k: Literal[True]


# ----------------------------------------------------------------------------------------------------------------------
# pydantic after a schema: types only, and what a schema cannot say


class TypedSmall(BaseModel):
    id: str
    country: str
    quantity: int
    price: float
    status: str


class TypedEntity(BaseModel):
    text: str
    label: str
    start_offset: int
    end_offset: int

    @model_validator(mode="after")
    def in_order(self) -> TypedEntity:
        """The rule across fields."""
        if self.end_offset <= self.start_offset:
            raise ValueError(_ORDER)
        return self


class TypedMedium(BaseModel):
    id: str
    raw_text: str
    entities: list[TypedEntity]


class TypedLarge(BaseModel):
    id: str
    email: str
    host: str
    address: str
    text: str
    entities: list[TypedEntity]
    labels: dict[str, str]
    counters: dict[str, int]
    token_ids: list[int]
    # JSON Schema has no order of moments, so these two bounds stay here.
    created_at: AwareDatetime = Field(gt=_AFTER)
    updated_at: AwareDatetime = Field(gt=_AFTER)


class TypedOne(BaseModel):
    id: str


class TypedItem(BaseModel):
    sku: str
    count: int
    price: float


class TypedListing(BaseModel):
    items: list[TypedItem]


class TypedEleven(BaseModel):
    a: str
    b: str
    c: str
    d: str
    e: str
    f: int
    g: int
    h: int
    i: float
    j: list[int]
    k: bool


# ----------------------------------------------------------------------------------------------------------------------
# msgspec

_Text64 = Annotated[str, Meta(min_length=1, max_length=64)]


class PackedSmall(msgspec.Struct):
    id: _Text64
    country: Annotated[str, Meta(pattern=_COUNTRY)]
    quantity: Annotated[int, Meta(ge=1, le=1000)]
    price: Annotated[float, Meta(ge=0, lt=1000000)]
    status: Literal["NEW", "PAID", "SENT"]


class PackedEntity(msgspec.Struct):
    text: Annotated[str, Meta(min_length=2)]
    label: Literal["PERSON", "LOCATION", "ORGANIZATION"]
    start_offset: Annotated[int, Meta(ge=0)]
    end_offset: Annotated[int, Meta(gt=0)]

    def __post_init__(self) -> None:
        if self.end_offset <= self.start_offset:
            raise ValueError(_ORDER)


class PackedMedium(msgspec.Struct):
    id: _Text64
    raw_text: Annotated[str, Meta(min_length=1, max_length=512)]
    entities: Annotated[list[PackedEntity], Meta(max_length=256)]


class PackedLarge(msgspec.Struct):
    id: Annotated[str, Meta(pattern=_UUID)]
    email: Annotated[str, Meta(pattern=_EMAIL, max_length=254)]
    host: Annotated[str, Meta(pattern=_HOST, max_length=253)]
    address: Annotated[str, Meta(pattern=_IPV4)]
    text: Annotated[str, Meta(min_length=1, max_length=4096)]
    entities: Annotated[list[PackedEntity], Meta(min_length=1, max_length=256)]
    labels: Annotated[
        dict[Annotated[str, Meta(min_length=1, max_length=32)], Annotated[str, Meta(max_length=128)]],
        Meta(max_length=64),
    ]
    counters: dict[str, Annotated[int, Meta(ge=0)]]
    token_ids: Annotated[list[Annotated[int, Meta(ge=0, lt=250000)]], Meta(max_length=512)]
    created_at: Annotated[datetime, Meta(tz=True)]
    updated_at: Annotated[datetime, Meta(tz=True)]

    def __post_init__(self) -> None:
        # msgspec has no bounds for moments.
        if self.created_at <= _AFTER or self.updated_at <= _AFTER:
            raise ValueError("must be after 2020")


class PackedOne(msgspec.Struct):
    id: _Text64


class PackedItem(msgspec.Struct):
    sku: Annotated[str, Meta(min_length=1)]
    count: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
    price: float


class PackedListing(msgspec.Struct):
    items: list[PackedItem]


class PackedEleven(msgspec.Struct):
    a: Annotated[str, Meta(min_length=3)]
    b: Annotated[str, Meta(max_length=3)]
    c: Annotated[str, Meta(pattern="^[a-z]+$")]
    d: Literal["x", "y"]
    e: Annotated[str, Meta(pattern="^id-")]
    f: Annotated[int, Meta(gt=0)]
    g: Annotated[int, Meta(le=10)]
    h: Annotated[int, Meta(ge=1, lt=5)]
    i: Annotated[float, Meta(ge=0)]
    j: Annotated[list[int], Meta(min_length=1)]
    k: bool


# ----------------------------------------------------------------------------------------------------------------------
# JSON Schema


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _string(**rules: Any) -> Schema:
    return {"type": "string", **rules}


def _integer(**rules: Any) -> Schema:
    return {"type": "integer", **rules}


def _number(**rules: Any) -> Schema:
    return {"type": "number", **rules}


def _array(items: Schema, **rules: Any) -> Schema:
    return {"type": "array", "items": items, **rules}


_ID = _string(minLength=1, maxLength=64)
_ENTITY = _object(
    text=_string(minLength=2),
    label={"enum": ["PERSON", "LOCATION", "ORGANIZATION"]},
    start_offset=_integer(minimum=0),
    end_offset=_integer(exclusiveMinimum=0),
)

SCHEMAS: dict[str, Schema] = {
    "Small": _object(
        id=_ID,
        country=_string(pattern=_COUNTRY),
        quantity=_integer(minimum=1, maximum=1000),
        price=_number(minimum=0, exclusiveMaximum=1000000),
        status={"enum": ["NEW", "PAID", "SENT"]},
    ),
    "Medium": _object(id=_ID, raw_text=_string(minLength=1, maxLength=512), entities=_array(_ENTITY, maxItems=256)),
    "Large": _object(
        id=_string(pattern=_UUID),
        email=_string(pattern=_EMAIL, maxLength=254),
        host=_string(pattern=_HOST, maxLength=253),
        address=_string(pattern=_IPV4),
        text=_string(minLength=1, maxLength=4096),
        entities=_array(_ENTITY, minItems=1, maxItems=256),
        labels={
            "type": "object",
            "maxProperties": 64,
            "propertyNames": {"minLength": 1, "maxLength": 32},
            "additionalProperties": _string(maxLength=128),
        },
        counters={"type": "object", "additionalProperties": _integer(minimum=0)},
        token_ids=_array(_integer(minimum=0, exclusiveMaximum=250000), maxItems=512),
        created_at=_string(),
        updated_at=_string(),
    ),
    "One": _object(id=_ID),
    "Listing": _object(
        items=_array(
            _object(sku=_string(minLength=1), count=_integer(minimum=-(2**31), maximum=2**31 - 1), price=_number())
        )
    ),
    "Eleven": _object(
        a=_string(minLength=3),
        b=_string(maxLength=3),
        c=_string(pattern="^[a-z]+$"),
        d={"enum": ["x", "y"]},
        e=_string(pattern="^id-"),
        f=_integer(exclusiveMinimum=0),
        g=_integer(maximum=10),
        h=_integer(minimum=1, exclusiveMaximum=5),
        i=_number(minimum=0),
        j=_array(_integer(), minItems=1),
        k={"const": True},
    ),
}

PYDANTIC: dict[str, type[BaseModel]] = {model.__name__: model for model in (Small, Medium, Large, One, Listing, Eleven)}
TYPED: dict[str, type[BaseModel]] = {
    model.__name__.removeprefix("Typed"): model
    for model in (TypedSmall, TypedMedium, TypedLarge, TypedOne, TypedListing, TypedEleven)
}
MSGSPEC: dict[str, type[msgspec.Struct]] = {
    model.__name__.removeprefix("Packed"): model
    for model in (PackedSmall, PackedMedium, PackedLarge, PackedOne, PackedListing, PackedEleven)
}
