"""Changes of services and their methods."""

from __future__ import annotations

from protocontract_ci.diff.collector import ADDS, BREAKS_ALL, BREAKS_CODE, Collector
from protocontract_ci.diff.elements import named
from protocontract_ci.model import Compatibility, Element, Kind
from protocontract_compiler import ir

MethodPair = tuple[ir.Method | None, ir.Method | None]


def compare_services(collector: Collector) -> list[tuple[Element, ir.Method, ir.Method]]:
    """All changes of services but those of service levels; returns the methods that are there on both sides."""
    both: list[tuple[Element, ir.Method, ir.Method]] = []
    for old, new in collector.pairs.services:
        if old is None and new is not None:
            element = Element("service", new_name=new.full_name, new_message=new.full_name, new_file=new.file)
            collector.add(
                "service_added", new.full_name, "added", element, after=new.full_name,
                new=collector.new_place(new.full_name), compatibility=ADDS,
            )  # fmt: skip
        elif new is None and old is not None:
            element = Element("service", name=old.full_name, message=old.full_name, file=old.file)
            collector.add(
                "service_removed", old.full_name, "breaking", element, before=old.full_name,
                old=collector.old_place(old.full_name), compatibility=BREAKS_ALL,
            )  # fmt: skip
        elif old is not None and new is not None:
            element = Element(
                "service", old.full_name, new.full_name, old.full_name, new.full_name, file=old.file, new_file=new.file
            )
            places = (
                collector.old_place(old.full_name) or ir.Place(old.file),
                collector.new_place(new.full_name) or ir.Place(new.file),
            )
            named(collector, "service", element, old.full_name, new.full_name, places)
            collector.described(element, old.full_name, "service")
            pairs = _pair_methods(collector, old, new)
            kept = [now for was, now in pairs if was is not None and now is not None]
            if kept != [method for method in new.methods if method in kept]:
                collector.add(
                    "methods_reordered", old.full_name, "neutral", element, old=places[0], new=places[1]
                )  # fmt: skip
            for was, now in pairs:
                found = _compare(collector, old, new, was, now)
                if found is not None and was is not None and now is not None:
                    both.append((found, was, now))
    return both


def _pair_methods(collector: Collector, old: ir.Service, new: ir.Service) -> list[MethodPair]:
    """By name; then what is left with equal request, response and streaming, where there is one such on each side."""
    names = {method.name: method for method in new.methods}
    gone = [method for method in old.methods if method.name not in names]
    fresh = [method for method in new.methods if method.name not in {known.name for known in old.methods}]
    renamed: dict[str, ir.Method] = {}
    for method in gone:
        alike = [other for other in fresh if _alike(collector, method, other)]
        back = [other for other in gone if alike and _alike(collector, other, alike[0])]
        if len(alike) == 1 and len(back) == 1:
            renamed[method.name] = alike[0]
    pairs: list[MethodPair] = [
        (method, names.get(method.name) or renamed.get(method.name)) for method in old.methods
    ]  # fmt: skip
    pairs.extend((None, method) for method in fresh if method not in renamed.values())
    return pairs


def _alike(collector: Collector, old: ir.Method, new: ir.Method) -> bool:
    pairs = collector.pairs
    return (
        pairs.same(old.request, new.request) and pairs.same(old.response, new.response)
        and (old.client_streaming, old.server_streaming) == (new.client_streaming, new.server_streaming)
    )  # fmt: skip


def _compare(
    collector: Collector, old: ir.Service, new: ir.Service, was: ir.Method | None, now: ir.Method | None
) -> Element | None:
    before = f"{old.full_name}.{was.name}" if was is not None else ""
    after = f"{new.full_name}.{now.name}" if now is not None else ""
    element = Element(
        "method", before, after, old.full_name, new.full_name, file=old.file, new_file=new.file
    )  # fmt: skip
    places = collector.old_place(before) if before else None, collector.new_place(after) if after else None
    if was is None and now is not None:
        collector.add(
            "rpc_added", f"{old.full_name}.{now.name}", "added", element, after=signature(now), new=places[1],
            compatibility=ADDS,
        )  # fmt: skip
        return None
    if now is None and was is not None:
        collector.add(
            "rpc_removed", before, "breaking", element, before=signature(was), old=places[0],
            compatibility=BREAKS_ALL,
        )  # fmt: skip
        return None
    if was is None or now is None:
        return None

    def add(kind: Kind, one: str, other: str, compatibility: Compatibility = BREAKS_ALL) -> None:
        collector.add(
            kind, before, "breaking", element, before=one, after=other, old=places[0], new=places[1],
            compatibility=compatibility,
        )  # fmt: skip

    if was.name != now.name:
        add("rpc_renamed", was.name, now.name)
    if not collector.pairs.same(was.request, now.request):
        add("rpc_request_changed", was.request, now.request)
    if not collector.pairs.same(was.response, now.response):
        add("rpc_response_changed", was.response, now.response)
    # One message is a stream of one on the wire of gRPC; the call in code is another one.
    if was.client_streaming != now.client_streaming:
        add("rpc_client_streaming_changed", *_kinds(was.client_streaming), BREAKS_CODE)
    if was.server_streaming != now.server_streaming:
        add("rpc_server_streaming_changed", *_kinds(was.server_streaming), BREAKS_CODE)
    collector.described(element, before, "method")
    return element


def _kinds(was_streaming: bool) -> tuple[str, str]:
    return ("stream", "unary") if was_streaming else ("unary", "stream")


def signature(method: ir.Method) -> str:
    """A method on one line: ``Get(Ask) returns (stream Quote)``."""
    request, response = (name.rpartition(".")[2] for name in (method.request, method.response))
    sent = f"stream {request}" if method.client_streaming else request
    returned = f"stream {response}" if method.server_streaming else response
    return f"{method.name}({sent}) returns ({returned})"
