"""``protocontract gate --init``: the first modules.toml, from what is there, and locks that record it as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from protocontract.cli import KEPT, UsageError
from protocontract.terminal import pad, plural, width
from protocontract_ci.discovery import find_users, modules_text, propose, read_owners
from protocontract_ci.gate.company import Company, Judged, States
from protocontract_ci.gate.repository_mode import at_the_top, head_contracts
from protocontract_ci.locks import LOCKS, Lock
from protocontract_ci.modules import MODULES_FILE, Modules, parse_modules
from protocontract_ci.repository import Repository
from protocontract_ci.usage.vocabulary import Elements


def initialise(contracts: str, proto_path: list[Path], *, execute: bool) -> int:
    """Write modules.toml and the locks of all modules. ``contracts`` is their folder; "" to look for it.

    Raises UsageError where modules.toml is there already, or no contracts are.
    """
    with at_the_top() as repository:
        if (repository.root / MODULES_FILE).exists():
            raise UsageError(f"{MODULES_FILE} is there already; edit it, or delete it first")
        files = repository.files()
        folder = contracts.rstrip("/") or _folder_of_contracts(files)
        modules = Modules(contracts=folder, proto_path=tuple(map(str, proto_path)), file=MODULES_FILE)
        head = head_contracts(repository, modules)
        users = find_users(repository.root, files, Elements([head.schema]))
        proposed = propose(files, users, read_owners(repository.root))
        company = Company(
            repository, replace(modules, modules=tuple(proposed)), States("", head, head), execute=execute,
            purpose="baseline",
        )  # fmt: skip
        judged = company.judge(proposed)
        text = modules_text(folder, proposed, {each.module.name: each.verdict.role for each in judged})
        # What is written must be readable, whatever folders are called.
        parse_modules(text)
        path = repository.root / MODULES_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        locks = [lock for each in judged for lock in each.locks or ()]
        for each in judged:
            write_locks(repository, each.module.name, each.locks or ())
        _tell(judged, locks)
    return KEPT


def write_locks(repository: Repository, module: str, locks: tuple[Lock, ...]) -> list[str]:
    """Write the locks of a module where they differ, and remove those of what it no longer uses.

    Returns the files that changed, below the repository.
    """
    folder = repository.root / LOCKS / module
    known = {PurePosixPath(lock.path).name: lock for lock in locks}
    changed = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        if path.name not in known:
            path.unlink()
            changed.append(f"{LOCKS}/{module}/{path.name}")
    for lock in locks:
        path = repository.root / lock.path
        if path.is_file() and path.read_text(encoding="utf-8") == lock.text():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lock.text(), encoding="utf-8")
        changed.append(lock.path)
    return changed


def _folder_of_contracts(files: list[str]) -> str:
    """The folder of the contracts: one that is called so, else the one at the top that has all .proto files."""
    protos = [file for file in files if file.endswith(".proto")]
    if not protos:
        raise UsageError("no .proto file in this repository; expected contracts to begin with, or --contracts DIR")
    for usual in ("contracts", "proto", "protos"):
        if any(file.startswith(f"{usual}/") for file in protos):
            return usual
    tops = {PurePosixPath(file).parts[0] for file in protos}
    if len(tops) == 1 and "/" in protos[0]:
        return tops.pop()
    raise UsageError(f"contracts lie in {', '.join(sorted(tops))}; expected --contracts DIR to say which is meant")


def _tell(judged: list[Judged], locks: list[Lock]) -> None:
    widest = max((width(each.module.name) for each in judged), default=0)
    for each in judged:
        owner = each.module.owner or "no owner"
        count = plural(len(each.locks or ()), "lock")
        unread = f"  {each.verdict.because}" if each.verdict.verdict == "unverified" else ""
        head = f"{pad(each.module.name, widest)}  {pad(each.verdict.role, 7)}"
        print(f"{head}  {', '.join(each.module.paths)}  {owner}  {count}{unread}")
    opened = sorted({f"{lock.module}: {finding}" for lock in locks for finding in lock.open})
    for each_open in opened:
        print(f"  open, and recorded: {each_open}")
    print(f"wrote {MODULES_FILE} with {plural(len(judged), 'module')}, and {plural(len(locks), 'lock')} in {LOCKS}")
    if not judged:
        print("no file imports generated modules of these contracts; add modules by hand")
    print("commit both; `protocontract gate` judges changes from now on")
