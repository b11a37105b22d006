"""The protocol: pygls on standard input and output."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ptxkit.asm.fix import fixes
from ptxkit.asm.format import format_file
from ptxkit.asm.tree import Function, Variable
from ptxkit.diagnostics import Diagnostic, Severity, Source, Span
from ptxkit.editors.complete import complete
from ptxkit.editors.document import Document
from ptxkit.editors.hints import hints
from ptxkit.editors.hover import hover
from ptxkit.editors.locate import definition
from ptxkit.editors.references import RenamingError, references, renamed
from ptxkit.support.version import VERSION

PAUSE = 0.15
"""Seconds of quiet before a text that is being typed is checked."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_KINDS = {
    "opcode": types.CompletionItemKind.Function,
    "modifier": types.CompletionItemKind.Property,
    "register": types.CompletionItemKind.Variable,
    "variable": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Variable,
    "label": types.CompletionItemKind.Reference,
    "function": types.CompletionItemKind.Function,
    "special": types.CompletionItemKind.Constant,
    "keyword": types.CompletionItemKind.Keyword,
}


class Server(LanguageServer):
    """A language server that keeps the latest version of each text."""

    def __init__(self) -> None:
        super().__init__("ptxkit", VERSION)
        self.documents: dict[str, tuple[int | None, Document]] = {}

    def document(self, uri: str) -> Document:
        """The text of a URI, in its latest version."""
        text = self.workspace.get_text_document(uri)
        known = self.documents.get(uri)
        if known is None or known[0] != text.version or text.version is None:
            known = text.version, Document(Path(to_fs_path(uri) or uri), text.source)
            self.documents[uri] = known
        return known[1]

    def publish(self, uri: str) -> None:
        """Tell the editor what is wrong with a text."""
        document = self.document(uri)
        found = [self.diagnostic(uri, document, each) for each in document.findings]
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def diagnostic(self, uri: str, document: Document, found: Diagnostic) -> types.Diagnostic:
        notes = [*found.notes, *([f"help: {found.remedy}"] if found.remedy else [])]
        span, message = found.span or Span(1, 1, 1, 1), found.message
        if not document.is_here(found.source):
            assert found.source is not None
            message, span = f"{found.source.name}:{span.line}:{span.column}: {message}", Span(1, 1, 1, 1)
        related = [
            types.DiagnosticRelatedInformation(
                types.Location(uri, self.range(document.source, label.span)), label.text
            )
            for label in found.labels
            if document.is_here(found.source)
        ]
        for place in found.compiled_from:
            at = types.Position(place.line - 1, max(place.column - 1, 0))
            where = types.Location(_uri(place.file), types.Range(at, at))
            related.append(types.DiagnosticRelatedInformation(where, f"compiled from {place}"))
        return types.Diagnostic(
            range=self.range(document.source, span),
            message="\n".join([message, *notes]),
            severity=_SEVERITIES[found.severity],
            code=found.code,
            source="ptxkit",
            related_information=related,
        )

    # ---- places: lines and columns from 1 here, from 0 and in units of the client there

    def range(self, source: Source, span: Span) -> types.Range:
        """A span for the client."""
        return types.Range(
            self.position(source, span.line, span.column),
            self.position(source, span.end_line, span.end_column),
        )

    def position(self, source: Source, line: int, column: int) -> types.Position:
        """A place for the client."""
        before = (source.line(line) or "")[: column - 1]
        return types.Position(line - 1, self.workspace.position_codec.client_num_units(before))

    def edit(self, source: Source, span: Span, text: str) -> types.TextEdit:
        """A change for the client."""
        return types.TextEdit(self.range(source, span), text)

    def place(self, document: Document, position: types.Position) -> tuple[int, int]:
        """The line and column that the client means."""
        text = document.source.line(position.line + 1) or ""
        units = self.workspace.position_codec.client_num_units
        column = next((i for i in range(len(text)) if units(text[:i]) >= position.character), len(text))
        return position.line + 1, column + 1


def make() -> Server:
    """The server with all that it answers."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        await asyncio.sleep(PAUSE)
        document = server.workspace.text_documents.get(params.text_document.uri)
        if document is not None and document.version == params.text_document.version:
            server.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.documents.pop(uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        text = hover(document, *server.place(document, params.position))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: types.DefinitionParams) -> types.Location | None:
        document = server.document(params.text_document.uri)
        found = definition(document, *server.place(document, params.position))
        if found is None:
            return None
        source, span = found
        uri = params.text_document.uri if document.is_here(source) else _uri(source.name)
        return types.Location(uri, server.range(source, span))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "%", "$", "@"])
    )
    def on_completion(params: types.CompletionParams) -> types.CompletionList:
        document = server.document(params.text_document.uri)
        line, column = server.place(document, params.position)
        items = []
        for each in complete(document, line, column):
            edit = types.TextEdit(
                server.range(document.source, Span(line, each.start, line, column)), each.text
            )
            items.append(
                types.CompletionItem(each.text, kind=_KINDS[each.kind], detail=each.detail, text_edit=edit)
            )
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        return [
            types.DocumentSymbol(name, kind, where, where)
            for name, kind, span in _symbols(document)
            for where in [server.range(document.source, span)]
        ]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = server.document(params.text_document.uri)
        module, text = document.module, document.source.text
        if module.source is None or module.source.made or module.has_errors:
            return []
        last = text.count("\n") + 1
        whole = Span(1, 1, last, len(document.source.line(last) or "") + 1)
        return [types.TextEdit(server.range(document.source, whole), format_file(module))]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri
        document = server.document(uri)
        found = references(document, *server.place(document, params.position))
        return [
            types.Location(uri, server.range(document.source, place.span))
            for place in found
            if params.context.include_declaration or not place.declares
        ]

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def on_rename(params: types.RenameParams) -> types.WorkspaceEdit:
        uri, name = params.text_document.uri, params.new_name
        document = server.document(uri)
        try:
            spans = renamed(document, *server.place(document, params.position), name)
        except RenamingError as problem:
            raise JsonRpcInvalidParams(str(problem)) from None
        return types.WorkspaceEdit({uri: [server.edit(document.source, span, name) for span in spans]})

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    def on_code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        document = server.document(uri)
        first, last = params.range.start.line + 1, params.range.end.line + 1
        actions = []
        for found in document.findings:
            if found.span is None or not first <= found.span.line <= last:
                continue
            shown = server.diagnostic(uri, document, found)
            for fix in fixes(found, document.source):
                edit = server.edit(document.source, fix.span, fix.text)
                actions.append(
                    types.CodeAction(
                        fix.title[:1].upper() + fix.title[1:],
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[shown],
                        is_preferred=fix.sure,
                        edit=types.WorkspaceEdit({uri: [edit]}),
                    )
                )
        return actions

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.document(params.text_document.uri)
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return [
            types.InlayHint(
                server.position(document.source, hint.span.end_line, hint.span.end_column),
                hint.text,
                tooltip=types.MarkupContent(types.MarkupKind.Markdown, hint.table),
                padding_left=True,
            )
            for hint in hints(document)
            if first <= hint.span.line <= last
        ]

    return server


def _symbols(document: Document) -> list[tuple[str, types.SymbolKind, Span]]:
    """Functions and variables of the module that are in this text."""
    found: list[tuple[str, types.SymbolKind, Span]] = []
    made = document.module.source
    for statement in document.module.statements:
        names: list[tuple[str, Any, Span | None]] = []
        if isinstance(statement, Function):
            names = [(statement.name, types.SymbolKind.Function, statement.span)]
        elif isinstance(statement, Variable):
            names = [(each.name, types.SymbolKind.Variable, each.span) for each in statement.declarators]
        for name, kind, span in names:
            if span is not None and made is not None:
                source, place, _ = made.origin(span)
                if document.is_here(source):
                    found.append((name, kind, place))
    return found


def _uri(file: str) -> str:
    return from_fs_path(str(Path(file).absolute())) or file
