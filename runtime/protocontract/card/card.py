"""``Card``: what a data card says, as JSON that is its own canonical form, and as a page for people."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from protocontract._files import replacing
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.card.stamp import Stamp

#: Name and version of the JSON form. A later version may add keys; what a key means does not change within one.
SCHEMA: Final = "protocontract.card/1"


class Card:
    """A data card. Equal records give equal cards, whatever the number of workers and the order.

    The bytes of ``to_json`` are the canonical form: UTF-8, keys sorted, two spaces of indentation, a line feed at the
    end, numbers as Python writes them. ``sha256`` is their hash, so ``sha256sum card.json`` prints it too.
    """

    __slots__ = ("_json", "data")

    def __init__(self, data: dict[str, Any]) -> None:
        #: The content, as JSON has it. Not to be changed.
        self.data: Final = data
        text = json.dumps(data, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)
        self._json = f"{text}\n".encode()

    @classmethod
    def from_json(cls, raw: bytes) -> Card:
        """The card in ``to_json``'s bytes. Raises ContractError where they are no card, or not of this form."""
        try:
            data = json.loads(raw)
        except ValueError as error:
            raise ContractError("not a data card; expected JSON") from error
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ContractError(f"not a data card of this version; expected the schema {SCHEMA}")
        card = cls(data)
        if card.to_json() != raw:
            # Its hash would not be the one that a model was stamped with.
            raise ContractError("a data card that is not in canonical form; expected what protocontract wrote")
        return card

    @classmethod
    def read(cls, path: str | Path) -> Card:
        """The card in a file. Raises ContractError as ``from_json`` does, OSError."""
        return cls.from_json(Path(path).read_bytes())

    def to_json(self) -> bytes:
        """The canonical form."""
        return self._json

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the canonical form: the card's hash."""
        return hashlib.sha256(self._json).hexdigest()

    def to_html(self) -> str:
        """The card as one page, without any outside resource."""
        from protocontract.card.html import render

        return render(self)

    def write(self, folder: str | Path) -> tuple[Path, Path]:
        """Write ``card.json`` and ``card.html`` into a folder, which is made; returns their paths. Raises OSError."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        files = target / "card.json", target / "card.html"
        for file, content in zip(files, (self._json, self.to_html().encode()), strict=True):
            with replacing(file) as stream:
                stream.write(content)
        return files

    def stamp(self, model: str | Path, out: str | Path | None = None) -> Stamp:
        """Write contract, data versions and this card's hash into a model, as ``write_stamp`` does.

        ``out`` is the stamped copy; None: the model itself is replaced. Raises ContractError, OSError.
        """
        from protocontract.card.stamp import Stamp, write_stamp

        stamp = Stamp.of(self)
        write_stamp(stamp, model, out)
        return stamp

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Card) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return f"<Card {self.data['contract']['name']} {self.sha256[:12]}>"

    def summary(self) -> str:
        """One line: ``1,000 read, 991 used, 9 dropped: 6 money.ambiguous, 3 string.uuid``."""
        records = self.data["records"]
        parts = [f"{records['read']:,} read", f"{records['used']:,} used"]
        if records["left_out"]:
            reasons = ", ".join(f"{row['records']:,} {row['reason']}" for row in self.data["left_out"])
            parts.append(f"{records['left_out']:,} left out ({reasons})")
        parts.append(f"{records['dropped']:,} dropped")
        why = ", ".join(f"{number:,} {rule}" for rule, number in self.dropped_by_rule())
        return ", ".join(parts) + (f": {why}" if why else "")

    def dropped_by_rule(self) -> list[tuple[str, int]]:
        """Rule ids with how often a record was dropped for them, the most frequent first. A record may have several."""
        found: dict[str, int] = {}
        for row in self.data["dropped"]:
            found[row["rule"]] = found.get(row["rule"], 0) + row["records"]
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))
