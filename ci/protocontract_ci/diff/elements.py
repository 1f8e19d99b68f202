"""Changes of files, messages, fields and oneofs."""

from __future__ import annotations

from protocontract_ci.diff import reserved
from protocontract_ci.diff.collector import ADDS, BREAKS_ALL, BREAKS_CODE, BREAKS_NAMES, Collector
from protocontract_ci.diff.fields import FieldPairs, compare_fields, pair_fields
from protocontract_ci.diff.oneofs import compare_oneofs
from protocontract_ci.model import Compatibility, Element, Kind
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir


def compare_files(collector: Collector) -> None:
    """Files that came, went or moved, their imports, syntax and options."""
    for old, new in collector.pairs.files:
        if new is None and old is not None:
            collector.add(
                "file_removed", old.name, "breaking", Element("file", file=old.name), before=old.name,
                old=collector.old_place(old.name),
                compatibility=Compatibility(python="breaking", typescript="breaking"),
            )  # fmt: skip
        elif old is None and new is not None:
            collector.add(
                "file_added", new.name, "added", Element("file", new_file=new.name), after=new.name,
                new=collector.new_place(new.name), compatibility=ADDS,
            )  # fmt: skip
        elif old is not None and new is not None:
            _compare_file(collector, old, new)


def _compare_file(collector: Collector, old: ir.File, new: ir.File) -> None:
    element = Element("file", file=old.name, new_file=new.name)
    if old.name != new.name:
        collector.add(
            "file_removed", old.name, "breaking", element, before=old.name, after=new.name,
            old=collector.old_place(old.name), new=collector.new_place(new.name),
            compatibility=Compatibility(python="breaking", typescript="breaking"),
            notes=[f"all that it declares is in {new.name} now"],
        )  # fmt: skip
    was, now = collector.before.facts.files[old.name], collector.after.facts.files[new.name]
    if was.imports != now.imports:
        collector.add(
            "import_changed", old.name, "neutral", element, before=was.imports, after=now.imports,
            old=was.import_place if was.imports else collector.old_place(old.name),
            new=now.import_place if now.imports else collector.new_place(new.name),
        )  # fmt: skip
    if was.syntax != now.syntax:
        collector.add(
            "syntax_changed", old.name, "neutral", element, before=was.syntax, after=now.syntax,
            old=was.syntax_place, new=now.syntax_place,
            notes=["what it changes for a field or enum is reported there"],
        )  # fmt: skip
    names = collector.pairs.new_names
    before = [names[name] for name in _outermost(old) if name in names]
    after = [name for name in _outermost(new) if name in before]
    if [name for name in before if name in after] != after:
        collector.add(
            "declarations_reordered", old.name, "neutral", element, old=collector.old_place(old.name),
            new=collector.new_place(new.name),
        )  # fmt: skip
    collector.described(element, old.name, "file")


def _outermost(file: ir.File) -> list[str]:
    return [
        name
        for names in (file.messages, file.enums, file.services)
        for name in names
        if name.rpartition(".")[0] == file.package
    ]


def compare_messages(collector: Collector) -> list[FieldPairs]:
    """Messages that came, went, moved or were renamed, and their fields and oneofs.

    Returns the paired fields of the messages that are on both sides, for the comparison of rules and words.
    """
    pairs: list[FieldPairs] = []
    for old, new in collector.pairs.messages:
        if old is None and new is not None:
            if not inside(collector, new.full_name, 1):
                collector.add(
                    "message_added", new.full_name, "added",
                    Element("message", new_name=new.full_name, new_message=new.full_name, new_file=new.file),
                    after=new.full_name, new=new.place, compatibility=ADDS,
                )  # fmt: skip
        elif new is None and old is not None:
            if not inside(collector, old.full_name, 0):
                collector.add(
                    "message_removed", old.full_name, "breaking",
                    Element("message", name=old.full_name, message=old.full_name, file=old.file),
                    before=old.full_name, old=old.place, compatibility=BREAKS_NAMES,
                )  # fmt: skip
        elif old is not None and new is not None:
            pairs.append(_compare_message(collector, old, new))
    return pairs


def compare_extensions(collector: Collector) -> None:
    """Fields that one message lends another (``extend``)."""
    before, after = collector.before.facts.extensions, collector.after.facts.extensions
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        places = collector.old_place(name) if old else None, collector.new_place(name) if new else None
        element = Element(
            "field", name if old else "", name if new else "", old.extendee if old else "",
            new.extendee if new else "", old.number if old else None, new.number if new else None,
        )  # fmt: skip
        if old is None and new is not None:
            collector.add(
                "field_added", name, "added", element, after=new.declaration, new=places[1], compatibility=ADDS
            )
        elif new is None and old is not None:
            collector.add(
                "field_removed", name, "breaking", element, before=old.declaration, old=places[0],
                compatibility=BREAKS_ALL,
            )  # fmt: skip
        elif old is not None and new is not None:
            kind: Kind = "field_renumbered" if old.number != new.number else "field_type_changed"
            if old != new:
                collector.add(
                    kind, name, "breaking", element, before=old.declaration, after=new.declaration, old=places[0],
                    new=places[1], compatibility=BREAKS_ALL,
                )  # fmt: skip
            collector.described(element, name, "field")


def inside(collector: Collector, name: str, side: int) -> bool:
    """Whether the message around an element is new (side 1) or gone (side 0) too: it stands for all that it holds."""
    outer = name.rpartition(".")[0]
    for pair in collector.pairs.messages:
        one = pair[side]
        if one is not None and one.full_name == outer:
            return pair[1 - side] is None
    return False


def named(
    collector: Collector, kind: str, element: Element, old: str, new: str, places: tuple[ir.Place, ir.Place]
) -> None:
    """The change of name, package or file of an element of ``kind``: message, enum or service.

    What follows from the change of a message around it is not told again.
    """
    outer_old, _, short_old = old.rpartition(".")
    outer_new, _, short_new = new.rpartition(".")
    follows = collector.pairs.new_names.get(outer_old) == outer_new and outer_old in collector.pairs.new_names
    old_package, new_package = _package(collector.before, element.file), _package(collector.after, element.new_file)
    moved = old_package != new_package and not follows
    if old != new and not (follows and short_old == short_new):
        renamed = old.removeprefix(f"{old_package}.") != new.removeprefix(f"{new_package}.")
        change: Kind = f"{kind}_moved_package" if moved else f"{kind}_renamed"  # type: ignore[assignment]
        compatibility = BREAKS_CODE
        if moved:
            # Modules follow files, not packages; the full name is in Any, in gRPC paths and in JSON's @type.
            code = "breaking" if renamed else "compatible"
            compatibility = Compatibility("breaking", "breaking", code, code)  # type: ignore[arg-type]
        collector.add(
            change, old, "breaking", element, before=old, after=new, old=places[0], new=places[1],
            compatibility=compatibility,
        )  # fmt: skip
    if element.file != element.new_file and not follows and not _moved_whole(collector, element):
        collector.add(
            f"{kind}_moved_file", old, "breaking", element,  # type: ignore[arg-type]
            before=element.file, after=element.new_file, old=places[0], new=places[1],
            compatibility=Compatibility(python="breaking", typescript="breaking"),
        )  # fmt: skip


def _package(contracts: Contracts, file: str) -> str:
    return contracts.schema.files[file].package


def _moved_whole(collector: Collector, element: Element) -> bool:
    return any(
        old is not None and new is not None and (old.name, new.name) == (element.file, element.new_file)
        for old, new in collector.pairs.files
    )


def _compare_message(collector: Collector, old: ir.Message, new: ir.Message) -> FieldPairs:
    element = Element(
        "message", old.full_name, new.full_name, old.full_name, new.full_name, file=old.file, new_file=new.file
    )
    named(collector, "message", element, old.full_name, new.full_name, (old.place, new.place))
    collector.described(element, old.full_name, "message")
    fields = pair_fields(collector, old, new)
    compare_oneofs(collector, fields)
    compare_fields(collector, fields)
    both = [now for was, now in fields.pairs if was is not None and now is not None]
    if both != [now for now in new.fields if now in both]:
        collector.add("fields_reordered", old.full_name, "neutral", element, old=old.place, new=new.place)
    reserved.compare_message(collector, element, fields)
    return fields
