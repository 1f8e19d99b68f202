"""The command ``protocontract record-deployment``."""

from __future__ import annotations

import datetime

from protocontract.cli import KEPT, UsageError
from protocontract_ci.arguments import command_parser
from protocontract_ci.deployments import record
from protocontract_ci.gate.repository_mode import at_the_top, chosen, declared_modules


def record_deployment_command(argv: list[str]) -> int:
    """Record which commit of a module runs in an environment: `protocontract gate --env` judges by it."""
    parser = command_parser(
        "record-deployment",
        "Record that a commit of a module runs in an environment.",
        "exit codes: 0 recorded; 2 no such module, environment or commit\n\n"
        "example: protocontract record-deployment trainer prod --retained 30",
    )
    parser.add_argument("module", metavar="MODULE")
    parser.add_argument("environment", metavar="ENV")
    parser.add_argument("--commit", default="HEAD", metavar="REF", help="what runs (default HEAD)")
    parser.add_argument(
        "--retained", type=int, default=0, metavar="DAYS",
        help="how long what ran until now counts: the retention of the topics that it wrote to (default 0)",
    )  # fmt: skip
    options = parser.parse_args(argv)
    if options.retained < 0:
        parser.error("--retained: expected a number of days, 0 or more")
    if not options.environment.replace("-", "").replace("_", "").isalnum():
        parser.error("ENV: expected letters, digits and dashes")
    with at_the_top() as repository:
        (module,) = chosen(declared_modules(repository), [options.module])
        if module.environment and options.environment not in module.environment:
            raise UsageError(
                f"{module.name} is declared for {', '.join(module.environment)}, not {options.environment}"
            )
        commit = repository.commit(options.commit)
        if not commit:
            raise UsageError(f"`{options.commit}` is no commit here")
        today = datetime.datetime.now(datetime.UTC).date()
        path, states = record(repository.root, module.name, options.environment, commit, options.retained, today)
        shown = path.relative_to(repository.root).as_posix()
    print(f"{module.name} runs in {options.environment} at {commit[:12]} ({shown})")
    for state in states[1:]:
        print(f"  {state.commit[:12]} counts until {state.retained_until}")
    return KEPT
