// The verdict of `./grade` in Visual Studio Code: underlined findings, both places of a race, counters
// beside the lines, a hint at the TODO. What is shown where is worked out in verdict.js.
'use strict';
const childProcess = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const {countersOf, exerciseOf, lineOfTodo, problemsOf} = require('./verdict.js');

const PASS = 0, FAIL = 1;  // exit statuses of ./grade with a verdict

/** Runs `./grade ARGUMENTS`; a later run ends it.
 * @param {string} root @param {string[]} args
 * @returns {{child: childProcess.ChildProcess, end: Promise<{status: number | null, out: string, err: string}>}} */
function grade(root, args) {
  const child = childProcess.spawn(path.join(root, 'grade'), args, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']});
  let out = '', err = '';
  child.stdout.on('data', (text) => { out += text; });
  child.stderr.on('data', (text) => { err += text; });
  const end = new Promise((resolve) => {
    child.on('error', (error) => resolve({status: null, out, err: error.message}));
    child.on('close', (status) => resolve({status, out, err}));
  });
  return {child, end: /** @type {any} */ (end)};
}

class Warplings {
  /** @param {string} root of the course */
  constructor(root) {
    this.root = root;
    this.problems = vscode.languages.createDiagnosticCollection('warplings');
    this.counters = vscode.window.createTextEditorDecorationType({after: {margin: '0 0 0 3em', color: new vscode.ThemeColor('editorCodeLens.foreground')}});
    this.status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
    this.output = vscode.window.createOutputChannel('Warplings');
    this.lensesChanged = new vscode.EventEmitter();
    /** @type {{file: string, todo: number} | null} whose hint helps */
    this.todo = null;
    /** @type {childProcess.ChildProcess | null} */
    this.running = null;
  }

  /** The learner's file in front, and its exercise. @param {any} [document] */
  chosen(document = vscode.window.activeTextEditor?.document) {
    const exercise = document && exerciseOf(this.root, document.uri.fsPath);
    return exercise ? {document, exercise} : null;
  }

  /** @param {string[]} args @returns the result, null where another run came between */
  async run(args) {
    this.running?.kill('SIGINT');
    const {child, end} = grade(this.root, args);
    this.running = child;
    const result = await end;
    if (this.running !== child) return null;
    this.running = null;
    return result;
  }

  /** @param {any} [document] */
  async grade(document) {
    const chosen = this.chosen(document);
    if (!chosen) return;
    this.say(`$(sync~spin) grading ${chosen.exercise}`);
    const result = await this.run(['run', chosen.exercise, '--json']);
    if (!result) return;
    if (result.status !== PASS && result.status !== FAIL) {
      this.problems.clear();
      this.say('$(warning) no verdict', result.err || result.out);
      return;
    }
    const verdict = JSON.parse(result.out);
    this.showVerdict(verdict, chosen.document);
    if (verdict.passed) await this.count(chosen.document);
  }

  /** @param {any} verdict @param {any} document */
  showVerdict(verdict, document) {
    const file = document.uri.fsPath;
    const byFile = /** @type {Map<string, any[]>} */ (new Map([[file, []]]));
    for (const problem of problemsOf(verdict, this.root, file, document.getText())) {
      if (!byFile.has(problem.file)) byFile.set(problem.file, []);
      byFile.get(problem.file)?.push(this.diagnostic(problem));
    }
    this.problems.clear();
    for (const [name, diagnostics] of byFile) this.problems.set(vscode.Uri.file(name), diagnostics);
    this.todo = verdict.passed || !verdict.todo ? null : {file, todo: verdict.todo};
    this.lensesChanged.fire();
    this.clearCounters();
    this.say(verdict.passed ? `$(pass) ${verdict.exercise}` : `$(error) ${verdict.exercise}${verdict.todo ? `, TODO ${verdict.todo}` : ''}`, verdict.screen);
  }

  /** @param {import('./verdict.js').Problem} problem */
  diagnostic(problem) {
    const severity = {error: vscode.DiagnosticSeverity.Error, warning: vscode.DiagnosticSeverity.Warning, note: vscode.DiagnosticSeverity.Information}[problem.severity];
    const made = new vscode.Diagnostic(this.range(problem.file, problem.line), problem.message, severity);
    made.source = 'warplings';
    if (problem.check) {
      made.code = {value: problem.kind, target: vscode.Uri.file(path.join(this.root, 'docs', 'findings', `${problem.check}.md`))};
    }
    made.relatedInformation = problem.related.map((place) => new vscode.DiagnosticRelatedInformation(
      new vscode.Location(vscode.Uri.file(place.file), this.range(place.file, place.line)), `${place.message}, line ${place.line}`));
    return made;
  }

  /** The words of a line, without what it is indented by. @param {string} file @param {number} line */
  range(file, line) {
    const open = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === file);
    const text = open ? open.getText() : fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    const words = text.split('\n')[line - 1] ?? '';
    return new vscode.Range(line - 1, words.length - words.trimStart().length, line - 1, Math.max(1, words.trimEnd().length));
  }

  /** @param {any} [document] */
  async count(document) {
    const chosen = this.chosen(document);
    if (!chosen) return;
    const result = await this.run(['profile', chosen.exercise, '--json']);
    if (!result) return;
    if (result.status !== PASS) {
      this.output.appendLine(result.err || result.out);
      return;
    }
    const lines = countersOf(JSON.parse(result.out), this.root, chosen.document.uri.fsPath);
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== chosen.document) continue;
      editor.setDecorations(this.counters, [...lines].map(([line, contentText]) => ({
        range: this.range(chosen.document.uri.fsPath, line), renderOptions: {after: {contentText}}})));
    }
  }

  clearCounters() {
    for (const editor of vscode.window.visibleTextEditors) editor.setDecorations(this.counters, []);
  }

  async hint() {
    const chosen = this.chosen();
    if (!chosen) return;
    const result = await this.run(['hint', chosen.exercise]);
    if (!result) return;
    this.output.clear();
    this.output.append(result.out || result.err);
    this.output.show(true);
  }

  /** A hint is one click above the TODO that the verdict names. @param {any} document */
  provideCodeLenses(document) {
    if (this.todo?.file !== document.uri.fsPath) return [];
    const {todo} = /** @type {{todo: number}} */ (this.todo);
    const line = lineOfTodo(document.getText(), todo) - 1;
    return [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {title: `Hint for TODO ${todo}`, command: 'warplings.hint'})];
  }

  get onDidChangeCodeLenses() {
    return this.lensesChanged.event;
  }

  /** @param {string} text @param {string} [more] all there is to say */
  say(text, more) {
    this.status.text = text;
    this.status.tooltip = more;
    this.status.show();
    if (more) this.output.replace(more);
  }
}

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const folder = vscode.workspace.workspaceFolders?.find((f) => fs.existsSync(path.join(f.uri.fsPath, 'chapters', 'course.json')));
  if (!folder) return null;
  const course = new Warplings(folder.uri.fsPath);
  const onSave = () => vscode.workspace.getConfiguration('warplings').get('gradeOnSave');
  context.subscriptions.push(course.problems, course.counters, course.status, course.output, course.lensesChanged,
    vscode.commands.registerCommand('warplings.grade', () => course.grade()),
    vscode.commands.registerCommand('warplings.hint', () => course.hint()),
    vscode.commands.registerCommand('warplings.count', () => course.count()),
    vscode.languages.registerCodeLensProvider({scheme: 'file'}, course),
    vscode.workspace.onDidSaveTextDocument((document) => (onSave() ? course.grade(document) : undefined)),
    vscode.workspace.onDidChangeTextDocument(({document, contentChanges}) => {
      if (contentChanges.length > 0 && course.chosen(document)) course.clearCounters();
    }),
    {dispose: () => course.running?.kill('SIGINT')});
  return course;
}

module.exports = {activate};
