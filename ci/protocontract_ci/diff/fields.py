"""Changes of fields: which became which, and what each difference does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from protocontract_ci.diff import types
from protocontract_ci.diff.collector import ADDS, BREAKS_ALL, SAME, Collector
from protocontract_ci.diff.oneofs import pair_oneofs
from protocontract_ci.model import Compatibility, Direction, Effect, Element, Kind, Value
from protocontract_compiler import ir


@dataclass(frozen=True)
class FieldPairs:
    """The fields of a message before and after. ``pairs`` is in the order of the fields before, then what is new.

    ``oneofs`` has the name after of each oneof that is there on both sides.
    """

    old: ir.Message
    new: ir.Message
    pairs: list[tuple[ir.Field | None, ir.Field | None]]
    oneofs: dict[str, str] = field(default_factory=dict)

    def both(self) -> Iterator[tuple[ir.Field, ir.Field]]:
        """The fields that are there on both sides."""
        for old, new in self.pairs:
            if old is not None and new is not None:
                yield old, new

    def added(self) -> list[ir.Field]:
        """The fields that are new."""
        return [new for old, new in self.pairs if old is None and new is not None]

    def removed(self) -> list[ir.Field]:
        """The fields that are gone."""
        return [old for old, new in self.pairs if new is None and old is not None]

    def path(self, old: ir.Field | None, new: ir.Field | None) -> str:
        """The path of a field: by its message and name before where it was there."""
        name = old.name if old is not None else new.name if new is not None else ""
        return f"{self.old.full_name}.{name}" if name else self.old.full_name

    def element(self, old: ir.Field | None, new: ir.Field | None) -> Element:
        """The element of a field, with a side left out where it is not there."""
        before, after = self.old.full_name, self.new.full_name
        return Element(
            "field",
            name=f"{before}.{old.name}" if old is not None else "",
            new_name=f"{after}.{new.name}" if new is not None else "",
            message=before, new_message=after,
            number=old.number if old is not None else None, new_number=new.number if new is not None else None,
            oneof=f"{before}.{old.oneof}" if old is not None and old.oneof else "",
            new_oneof=f"{after}.{new.oneof}" if new is not None and new.oneof else "",
            file=self.old.file, new_file=self.new.file,
        )  # fmt: skip


def pair_fields(collector: Collector, old: ir.Message, new: ir.Message) -> FieldPairs:
    """Pairs fields by name, then by number where nothing but the name differs, or a rename is declared."""
    by_name = {of_field.name: of_field for of_field in new.fields}
    by_number = {of_field.number: of_field for of_field in new.fields}
    names = {of_field.name for of_field in old.fields}
    pairs: list[tuple[ir.Field | None, ir.Field | None]] = []
    for of_field in old.fields:
        found = by_name.get(of_field.name)
        if found is None:
            other = by_number.get(of_field.number)
            if other is not None and other.name not in names and _renamed(collector, of_field, other):
                found = other
        pairs.append((of_field, found))
    taken = {id(after) for _, after in pairs if after is not None}
    pairs.extend((None, of_field) for of_field in new.fields if id(of_field) not in taken)
    fields = FieldPairs(old, new, pairs)
    fields.oneofs.update(pair_oneofs(old, new, {a.name: b.name for a, b in fields.both()}))
    return fields


def _renamed(collector: Collector, old: ir.Field, new: ir.Field) -> bool:
    if new.governance.renamed_from == old.name:
        return True
    return old.shape is new.shape and types.same_type(old, new, collector.pairs)


def compare_fields(collector: Collector, fields: FieldPairs) -> None:
    """All changes of the fields of a message but those of their rules and words."""
    for old, new in fields.pairs:
        if old is None and new is not None:
            _added(collector, fields, new)
        elif new is None and old is not None:
            _removed(collector, fields, old)
        elif old is not None and new is not None:
            _Comparison(collector, fields, old, new).run()
    for old, new in _on_live_numbers(fields):
        collector.add(
            "number_reused", f"{fields.old.full_name}#{old.number}", "breaking", fields.element(old, new),
            before=types.declaration(old), after=types.declaration(new), old=old.place, new=new.place,
            compatibility=BREAKS_ALL,
            demand=f"`{new.name}` reads what was written as `{old.name}`; expected a new number for it and "
            f"`reserved {old.number};`",
        )  # fmt: skip


def _on_live_numbers(fields: FieldPairs) -> Iterator[tuple[ir.Field, ir.Field]]:
    """Fields that are gone, each with the new field that has taken its number."""
    added = {of_field.number: of_field for of_field in fields.added()}
    for of_field in fields.removed():
        if of_field.number in added:
            yield of_field, added[of_field.number]


def _added(collector: Collector, fields: FieldPairs, new: ir.Field) -> None:
    contract = fields.new.contract
    existing = new.oneof is not None and new.oneof in fields.oneofs.values()
    collector.add(
        "oneof_case_added" if existing else "field_added", fields.path(None, new),
        "breaking" if new.legacy_required else "added", fields.element(None, new),
        after=types.declaration(new), new=new.place,
        # A message without a required field cannot be written; old bytes do not have it.
        compatibility=BREAKS_ALL if new.legacy_required else ADDS,
        notes=["required: messages without it cannot be written"] if new.legacy_required else (),
        acknowledge=new.governance.acknowledge or (contract is not None and contract.acknowledge_new_fields),
    )  # fmt: skip


def _removed(collector: Collector, fields: FieldPairs, old: ir.Field) -> None:
    kept = collector.after.facts.reserved[fields.new.full_name]
    missing = [] if kept.holds(old.number) else [f"`reserved {old.number};`"]
    if old.name not in kept.names:
        missing.append(f'`reserved "{old.name}";`')
    notes = [f"a later field could take its place; expected {' and '.join(missing)}"] if missing else []
    if old.governance.sunset:
        notes.append(f"its sunset is {old.governance.sunset}")
    collector.add(
        "oneof_case_removed" if old.oneof is not None else "field_removed", fields.path(old, None), "breaking",
        fields.element(old, None), before=types.declaration(old), old=old.place,
        compatibility=Compatibility(
            "compatible" if kept.holds(old.number) else "breaking", "breaking", "breaking", "breaking"
        ),
        notes=notes,
    )  # fmt: skip


class _Comparison:
    """Compares one field that is there on both sides."""

    def __init__(self, collector: Collector, fields: FieldPairs, old: ir.Field, new: ir.Field) -> None:
        self._collector = collector
        self._fields = fields
        self._old, self._new = old, new
        self._path = fields.path(old, new)
        self._element = fields.element(old, new)

    def run(self) -> None:
        self._identity()
        self._type()
        if not self._membership():
            self._presence()
        self._default()
        self._packing()
        self._collector.described(self._element, self._path, "field")

    def _add(
        self, kind: Kind, before: Value, after: Value, compatibility: Compatibility,
        direction: Direction = "breaking", demand: str = "", note: str = "",
    ) -> None:  # fmt: skip
        self._collector.add(
            kind, self._path, direction, self._element, before=before, after=after, old=self._old.place,
            new=self._new.place, compatibility=compatibility, demand=demand, notes=[note] if note else (),
        )  # fmt: skip

    def _identity(self) -> None:
        old, new = self._old, self._new
        if old.number != new.number:
            self._add("field_renumbered", old.number, new.number, Compatibility("breaking", python="compatible"))
        if old.name != new.name:
            self._renamed()
        elif old.json_name != new.json_name:
            self._add("json_name_changed", old.json_name, new.json_name, Compatibility(json="breaking"))
        else:
            was, now = (
                facts.json_names.get(name)
                for facts, name in (
                    (self._collector.before.facts, self._element.name),
                    (self._collector.after.facts, self._element.new_name),
                )
            )
            if (was is None) != (now is None):
                text = f"json_name = {new.json_name}"
                self._add("option_changed", text if was else None, text if now else None, SAME, "neutral")

    def _renamed(self) -> None:
        old, new = self._old, self._new
        declared = new.governance.renamed_from == old.name
        # JSON stays readable under a json_name that was kept.
        json: Effect = "compatible" if old.json_name == new.json_name else "breaking"
        demand = (
            f'`{old.name}` and `{new.name}` share the number {old.number}; expected `renamed_from: "{old.name}"` where '
            "it is the same field, or a new number where it is not"
        )
        self._add(
            "field_renamed" if declared else "renamed_or_reused", old.name, new.name,
            Compatibility("same", json, "breaking", "breaking"), demand="" if declared else demand,
        )  # fmt: skip

    def _type(self) -> None:
        old, new, pairs = self._old, self._new, self._collector.pairs
        if old.shape is not new.shape:
            effect = types.cardinality_effect(old, new)
            self._add("field_cardinality_changed", old.shape.value, new.shape.value, effect)
        if ir.Shape.MAP in (old.shape, new.shape) and old.shape is not new.shape:
            return
        if types.delimited_only(old, new, pairs):
            names = ("delimited", "length_prefixed")
            before, after = names if old.type == ir.TYPE_GROUP else names[::-1]
            self._add("encoding_changed", before, after, Compatibility(wire="breaking"))
        elif not types.same_type(old, new, pairs):
            self._add("field_type_changed", types.type_text(old), types.type_text(new), types.type_effect(old, new))

    def _membership(self) -> bool:
        """Whether the field changed its oneof (its presence follows from that)."""
        old, new = self._old, self._new
        expected = self._fields.oneofs.get(old.oneof) if old.oneof is not None else None
        if old.oneof == new.oneof or (old.oneof is not None and expected == new.oneof):
            return False
        if new.oneof is None:
            self._add("field_moved_out_of_oneof", old.oneof, None, BREAKS_ALL)
            return True
        existed = new.oneof in self._fields.oneofs.values()
        members = [b for a, b in self._fields.both() if b.oneof == new.oneof]
        if old.oneof is None and not existed and len(members) == 1:
            # Nothing that could be set beside it before shares the oneof. Only protobuf-es has another property.
            self._add(
                "field_moved_into_oneof", None, new.oneof,
                Compatibility("compatible", "compatible", "compatible", "breaking"), "neutral",
                note="alone in a new oneof: messages and Python code stay as they are",
            )  # fmt: skip
        else:
            self._add("field_moved_into_oneof", old.oneof, new.oneof, BREAKS_ALL)
        return True

    def _presence(self) -> None:
        old, new = self._old, self._new
        if old.shape is not ir.Shape.SINGULAR or new.shape is not ir.Shape.SINGULAR:
            return
        if old.legacy_required != new.legacy_required:
            texts = [
                "required" if of_field.legacy_required else "optional" if of_field.has_presence else "implicit"
                for of_field in (old, new)
            ]
            effect = Compatibility("breaking", "breaking", "breaking", "compatible")
            self._add("field_label_changed", texts[0], texts[1], effect)
        elif old.has_presence != new.has_presence and not old.is_message and not new.is_message:
            texts = ["explicit" if of_field.has_presence else "implicit" for of_field in (old, new)]
            self._add("field_presence_changed", texts[0], texts[1], types.presence_effect(old, new))

    def _default(self) -> None:
        old, new = self._old.default, self._new.default
        if old == new or self._old.type != self._new.type:
            return
        kind: Kind = "default_added" if old is None else "default_removed" if new is None else "default_changed"
        shown = [value.hex() if isinstance(value, bytes) else value for value in (old, new)]
        self._add(kind, shown[0], shown[1], Compatibility("same", "same", "breaking", "breaking"))

    def _packing(self) -> None:
        """Every parser reads both; only the bytes differ."""
        packed = []
        for contracts, name, of_field in (
            (self._collector.before, self._fields.old.full_name, self._old),
            (self._collector.after, self._fields.new.full_name, self._new),
        ):
            descriptor = contracts.loaded.pool.FindMessageTypeByName(name).fields_by_name[of_field.name]
            packed.append("packed" if descriptor.is_packed else "expanded")
        if packed[0] != packed[1] and self._old.shape is self._new.shape and self._old.type == self._new.type:
            self._add("encoding_changed", packed[0], packed[1], Compatibility(wire="compatible"), "neutral")
