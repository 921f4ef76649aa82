// As much of the module `vscode` as the extension uses: it keeps what it was told.
'use strict';

class EventEmitter {
  constructor() {
    this.listeners = /** @type {Function[]} */ ([]);
    this.event = (/** @type {Function} */ listener) => (this.listeners.push(listener), {dispose() {}});
  }
  fire(/** @type {any} */ value) { return Promise.all(this.listeners.map((listener) => listener(value))); }
  dispose() {}
}

class Range {
  constructor(line, from, endLine, to) { Object.assign(this, {line, from, endLine, to}); }
}
class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, {range, message, severity}); }
}
class Location {
  constructor(uri, range) { Object.assign(this, {uri, range}); }
}
class DiagnosticRelatedInformation {
  constructor(location, message) { Object.assign(this, {location, message}); }
}
class CodeLens {
  constructor(range, command) { Object.assign(this, {range, command}); }
}
class ThemeColor {}

const told = {diagnostics: new Map(), commands: new Map(), status: {show() {}, dispose() {}},
  output: '', shown: false, lenses: null, saved: new EventEmitter(), changed: new EventEmitter(), settings: {gradeOnSave: true}};

module.exports = {
  told, Range, Diagnostic, Location, DiagnosticRelatedInformation, CodeLens, ThemeColor, EventEmitter,
  DiagnosticSeverity: {Error: 0, Warning: 1, Information: 2, Hint: 3},
  StatusBarAlignment: {Left: 1},
  Uri: {file: (fsPath) => ({fsPath})},
  languages: {
    createDiagnosticCollection: () => ({set: (uri, list) => told.diagnostics.set(uri.fsPath, list), clear: () => told.diagnostics.clear(), dispose() {}}),
    registerCodeLensProvider: (_, provider) => (told.lenses = provider, {dispose() {}}),
  },
  commands: {registerCommand: (name, run) => (told.commands.set(name, run), {dispose() {}})},
  window: {
    activeTextEditor: undefined, visibleTextEditors: [],
    createTextEditorDecorationType: (options) => ({options, dispose() {}}),
    createStatusBarItem: () => told.status,
    createOutputChannel: () => ({append: (text) => { told.output += text; }, appendLine: (text) => { told.output += `${text}\n`; },
      replace: (text) => { told.output = text; }, clear: () => { told.output = ''; }, show: () => { told.shown = true; }, dispose() {}}),
  },
  workspace: {
    workspaceFolders: [], textDocuments: [],
    getConfiguration: () => ({get: (name) => told.settings[name]}),
    onDidSaveTextDocument: told.saved.event, onDidChangeTextDocument: told.changed.event,
  },
};
