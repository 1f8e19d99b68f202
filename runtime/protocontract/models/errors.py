"""What can be wrong with a model: before it serves (``ContractError``), and when it runs (``ModelError``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.models.comparison import Difference
    from protocontract.models.providers import Attempt


class RefusedToStart(ContractError):
    """What keeps a model or a service from starting: ``problems``, all at once. The text says that it was refused."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Final = tuple(problems)
        #: The problems as one text, a line each where there are several.
        self.told: Final = (
            self.problems[0] if len(self.problems) == 1 else "".join(f"\n  {each}" for each in self.problems)
        )
        super().__init__(f"refused to start: {self.told}")


def told(error: Exception) -> str:
    """What an error says, without the words that nothing was started."""
    return error.told if isinstance(error, RefusedToStart) else str(error)


class ModelMismatch(RefusedToStart):
    """The model is not what the contract says. ``differences`` are all of them."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        self.differences: Final = tuple(differences)
        super().__init__(str(each) for each in differences)


class NoProvider(RefusedToStart):
    """None of the declared providers runs the model as declared. ``attempts`` say why, in the declared order."""

    def __init__(self, model: str, attempts: Sequence[Attempt]) -> None:
        self.attempts: Final = tuple(attempts)
        super().__init__(f"{model} {each}" for each in attempts)


class ModelError(Exception):
    """A run of a model that gave no result. No text holds a value of the data."""


class WrongInput(ModelError):
    """Inputs that the model does not take: names, dtypes or shapes. Nothing was run."""


class RunFailed(ModelError):
    """The runtime or its device failed.

    ``kind`` is ``memory`` where the device had none left, ``provider`` where the provider says that it failed, and
    ``runtime`` for anything else.
    """

    def __init__(self, message: str, kind: Literal["memory", "provider", "runtime"]) -> None:
        self.kind: Final = kind
        super().__init__(message)
