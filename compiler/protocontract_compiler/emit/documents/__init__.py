"""The documents back end: a page for each contract and service, and an index, as HTML and as Markdown, per language.

Both forms and all languages are made of the same blocks (``blocks``), so that none says less than another. What is said
of rules are the promises that ``verify`` reports too; examples, versions and consumers come with the schema's dossiers.
"""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.emit.documents import html, markdown
from protocontract_compiler.emit.documents.contract import ContractPage
from protocontract_compiler.emit.documents.service import service_page
from protocontract_compiler.emit.documents.site import Listed, index_html, index_markdown
from protocontract_compiler.emit.documents.words import WORDS, Words
from protocontract_compiler.emit.output import OutputFile


def emit(schema: ir.Schema) -> list[OutputFile]:
    """The pages of the requested files' contracts and services, and the index of them all."""
    files: list[OutputFile] = []
    for language in WORDS:
        listed = [*_contracts(schema, language), *_services(schema, language)]
        for each in listed:
            files.append(OutputFile(each.page.name + html.ENDINGS[language], html.render(each.page)))
            files.append(OutputFile(each.page.name + markdown.ENDINGS[language], markdown.render(each.page)))
        files.append(OutputFile(f"index{html.ENDINGS[language]}", index_html(listed, language)))
        files.append(OutputFile(f"index{markdown.ENDINGS[language]}", index_markdown(listed, language)))
    return files


def _contracts(schema: ir.Schema, language: str) -> list[Listed]:
    say = Words(language)
    found: list[Listed] = []
    for message in schema.requested_messages():
        if message.contract is not None:
            made = ContractPage(schema, message, message.contract, language)
            count = made.promise_count
            about = say("promises_one") if count == 1 else say("promises_count", count)
            found.append(Listed(made.page(), False, message.contract.owner, about, tuple(made.entries())))
    return found


def _services(schema: ir.Schema, language: str) -> list[Listed]:
    return [
        Listed(service_page(schema, schema.services[name], language), True)
        for file in schema.files.values()
        if file.requested
        for name in file.services
    ]
