// The extension for Visual Studio Code, with recorded output of ./grade and a stand-in for the editor:
// node --test. The recordings are of 03/05 without its barrier, and of 02/01 as it begins, with a name that
// does not exist, and passed.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const {after, beforeEach, test} = require('node:test');

const resolve = /** @type {any} */ (Module)._resolveFilename;
/** @type {any} */ (Module)._resolveFilename = (name, ...rest) =>
  (name === 'vscode' ? path.join(__dirname, 'stand_in_vscode.js') : resolve.call(Module, name, ...rest));
const vscode = require('vscode');
const folder = path.join(__dirname, '../../../.vscode/extensions/warplings');
const {countersOf, exerciseOf, problemsOf} = require(path.join(folder, 'verdict.js'));
const {activate} = require(path.join(folder, 'extension.js'));
const manifest = require(path.join(folder, 'package.json'));

const recorded = (name) => fs.readFileSync(path.join(__dirname, 'recorded', name), 'utf8');
const ADD = 'chapters/02_vector_add/01_vector_add.cu', TILE = 'chapters/03_memory_model/05_transpose_tile.cu';
const problems = (name, file, source = '') => problemsOf(JSON.parse(recorded(`${name}.json`)), '/here', `/here/${file}`, source);

// ---- what is shown of a verdict ------------------------------------------------------------------

test('errors stand where `grade run --problems` puts them', () => {
  for (const [name, file, source] of [['race', TILE, 'race.cu'], ['starter', ADD, 'starter.cu'], ['error', ADD, '']]) {
    const lines = new Set(recorded(`${name}.problems`).split('\n').filter((l) => l.includes(': error: ')).map((l) => Number(l.split(':')[1])));
    const shown = problems(name, file, source && recorded(source)).filter((p) => p.severity === 'error');
    assert.deepEqual(new Set(shown.map((p) => p.line)), lines, name);
    assert.ok(lines.size > 0 && shown.every((p) => p.file === `/here/${file}`), name);
  }
});

test('both places of a race lead to each other', () => {
  const found = problems('race', TILE, recorded('race.cu'));
  assert.equal(found.length, 2);
  const source = recorded('race.cu').split('\n');
  for (const [one, other] of [[0, 1], [1, 0]]) {
    assert.equal(found[one].kind, 'shared-race');
    assert.deepEqual(found[one].related.map((p) => [p.file, p.line]), [[`/here/${TILE}`, found[other].line]]);
  }
  assert.match(source[found[0].line - 1], /= tile\[/);
  assert.match(source[found[1].line - 1], /tile\[j\]\[threadIdx.x\] = /);
});

test('a race of a line with itself is told once, an expected finding never', () => {
  const finding = {check: 'racecheck', kind: 'global-race', message: 'm', file: '', line: 4, other_file: '', other_line: 4, note: false, expected: false};
  const verdict = (f) => ({exercise: 'a/b', devices: [{diagnostics: [], tests: [{name: 'A.B', outcome: 'pass', failures: [], findings: [f]}]}]});
  assert.deepEqual(problemsOf(verdict(finding), '/here', '/here/x.cu', '').map((p) => [p.line, p.related.length]), [[4, 0]]);
  assert.deepEqual(problemsOf(verdict({...finding, expected: true}), '/here', '/here/x.cu', ''), []);
});

test('counters stand beside the lines that have some', () => {
  const lines = countersOf(JSON.parse(recorded('profile.json')), '/here', `/here/${ADD}`);
  const [add] = [...lines].filter(([, words]) => words.includes('sectors'));
  assert.equal(add[1], '2,880 instructions, 4.0 sectors a request');
  assert.equal(countersOf(JSON.parse(recorded('profile.json')), '/here', '/here/other.cu').size, 0);
});

test('only files of exercises are graded', () => {
  assert.equal(exerciseOf('/here', `/here/${ADD}`), '02_vector_add/01_vector_add');
  assert.equal(exerciseOf('/here', '/here/chapters/11_frameworks/02_numba_matmul.py'), '11_frameworks/02_numba_matmul');
  for (const other of ['/here/chapters/02_vector_add/01_vector_add_test.cpp', '/here/chapters/03_memory_model/02_coalescing_baseline.cu',
    '/here/solutions/02_vector_add/01_vector_add.cu', `/elsewhere/${ADD}`]) assert.equal(exerciseOf('/here', other), null, other);
});

// ---- in the editor -------------------------------------------------------------------------------

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'warplings-editor-'));
after(() => fs.rmSync(root, {recursive: true}));
const {told} = vscode;
let course = /** @type {any} */ (null), editor = /** @type {any} */ (null);

/** `./grade`: notes what it was asked, then does `script`. */
function answers(script) {
  fs.writeFileSync(path.join(root, 'grade'), `#!/bin/sh\necho "$*" >>asked\n${script}\n`, {mode: 0o755});
}
const says = (name, status) => `cat ${path.join(__dirname, 'recorded', name)}; exit ${status}`;
const asked = () => fs.readFileSync(path.join(root, 'asked'), 'utf8').trim().split('\n');

/** Opens `file` with the text of a recording. */
function opened(file, text) {
  const fsPath = path.join(root, file);
  fs.mkdirSync(path.dirname(fsPath), {recursive: true});
  fs.writeFileSync(fsPath, text);
  const document = {uri: {fsPath}, getText: () => text};
  editor = {document, decorations: [], setDecorations: (_, list) => { editor.decorations = list; }};
  vscode.window.activeTextEditor = editor;
  vscode.window.visibleTextEditors = [editor];
  vscode.workspace.textDocuments = [document];
  return document;
}

beforeEach(() => {
  fs.rmSync(path.join(root, 'asked'), {force: true});
  if (course) return;
  fs.mkdirSync(path.join(root, 'chapters'));
  fs.writeFileSync(path.join(root, 'chapters/course.json'), '{}');
  vscode.workspace.workspaceFolders = [{uri: {fsPath: os.tmpdir()}}, {uri: {fsPath: root}}];
  course = activate({subscriptions: []});
});

test('the manifest names what there is', () => {
  assert.deepEqual(manifest.contributes.commands.map((c) => c.command).sort(), [...told.commands.keys()].sort());
  assert.deepEqual(Object.keys(manifest.contributes.configuration.properties), ['warplings.gradeOnSave']);
  assert.ok(fs.existsSync(path.join(folder, manifest.main)));
});

test('a save grades; a race is underlined and linked in both places', async () => {
  const document = opened(TILE, recorded('race.cu'));
  answers(says('race.json', 1));
  await told.saved.fire(document);
  assert.deepEqual(asked(), ['run 03_memory_model/05_transpose_tile --json']);
  const shown = told.diagnostics.get(document.uri.fsPath);
  assert.equal(shown.length, 2);
  for (const [one, other] of [[0, 1], [1, 0]]) {
    assert.equal(shown[one].severity, vscode.DiagnosticSeverity.Error);
    assert.equal(shown[one].code.value, 'shared-race');
    assert.ok(shown[one].code.target.fsPath.endsWith('docs/findings/racecheck.md'));
    const {location} = shown[one].relatedInformation[0];
    assert.equal(location.uri.fsPath, document.uri.fsPath);
    assert.deepEqual(location.range, shown[other].range);
    const line = document.getText().split('\n')[shown[one].range.line];
    assert.equal(line.slice(shown[one].range.from, shown[one].range.to), line.trim());
  }
  assert.match(told.status.text, /05_transpose_tile, TODO \d/);
});

test('a hint is above the TODO that the verdict names', async () => {
  const document = opened(ADD, recorded('starter.cu'));
  answers(says('starter.json', 1));
  await told.commands.get('warplings.grade')();
  const [lens] = told.lenses.provideCodeLenses(document);
  assert.match(document.getText().split('\n')[lens.range.line], /TODO\(1\)/);
  assert.equal(lens.command.title, 'Hint for TODO 1');
  assert.deepEqual(told.lenses.provideCodeLenses({uri: {fsPath: '/other.cu'}}), []);
  answers('echo "1/3  Look here."');
  await told.commands.get(lens.command.command)();
  assert.equal(asked().at(-1), 'hint 02_vector_add/01_vector_add');
  assert.match(told.output, /Look here/);
  assert.ok(told.shown);
});

test('a pass clears the list and counts; an edit takes the counters away', async () => {
  const document = opened(ADD, 'a\n'.repeat(30));
  answers(`case $1 in run) ${says('passed.json', 0)};; *) ${says('profile.json', 0)};; esac`);
  await told.saved.fire(document);
  assert.deepEqual(asked().map((line) => line.split(' ')[0]), ['run', 'profile']);
  assert.deepEqual(told.diagnostics.get(document.uri.fsPath), []);
  assert.deepEqual(told.lenses.provideCodeLenses(document), []);
  const beside = editor.decorations.map((d) => d.renderOptions.after.contentText);
  assert.ok(beside.includes('2,880 instructions, 4.0 sectors a request'), beside.join());
  await told.changed.fire({document, contentChanges: [{}]});
  assert.deepEqual(editor.decorations, []);
});

test('a second save ends the first run, whose verdict is not shown', async () => {
  const document = opened(TILE, recorded('race.cu'));
  answers(`exec sleep 20`);
  const first = told.saved.fire(document);
  while (!fs.existsSync(path.join(root, 'asked'))) await new Promise((done) => { setTimeout(done, 10); });
  answers(says('race.json', 1));
  const begun = Date.now();
  await Promise.all([told.saved.fire(document), first]);
  assert.ok(Date.now() - begun < 15000);
  assert.equal(asked().length, 2);
  assert.equal(told.diagnostics.get(document.uri.fsPath).length, 2);
});

test('without a verdict nothing stays underlined, and what was said can be read', async () => {
  const document = opened(ADD, recorded('starter.cu'));
  answers('echo "grade: set-up stopped at step 2" >&2; exit 2');
  await told.saved.fire(document);
  assert.equal(told.diagnostics.size, 0);
  assert.match(told.output, /set-up stopped/);
  fs.rmSync(path.join(root, 'grade'));
  await told.saved.fire(document);
  assert.match(told.status.text, /no verdict/);
});

test('other files, and saves where that was turned off, start nothing', async () => {
  answers(says('passed.json', 0));
  await told.saved.fire(opened('chapters/02_vector_add/README.md', '#'));
  told.settings.gradeOnSave = false;
  await told.saved.fire(opened(ADD, ''));
  told.settings.gradeOnSave = true;
  assert.ok(!fs.existsSync(path.join(root, 'asked')));
});
