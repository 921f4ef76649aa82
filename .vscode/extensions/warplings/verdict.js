// What an editor shows of `./grade run --json` and `./grade profile --json`. No editor here: tests call
// these functions as they are.
'use strict';
const path = require('node:path');

/**
 * @typedef {{file: string, line: number, message: string}} Place  line 1 is the first
 * @typedef {Place & {severity: 'error' | 'warning' | 'note', check: string, kind: string,
 *   related: Place[]}} Problem
 */

/** "02_vector_add/01_vector_add" of a learner's file, null for any other.
 * @param {string} root @param {string} file @returns {string | null} */
function exerciseOf(root, file) {
  const name = path.relative(root, file).split(path.sep).join('/');
  const found = /^chapters\/(\d\d_\w+\/\d\d_\w+)\.(?:cu|py)$/.exec(name);
  return found && !/_(?:test|baseline|support)$/.test(String(found[1])) ? String(found[1]) : null;
}

/** A verdict names files from the root, or whole as the compiler did, maybe in another folder.
 * @param {string} root @param {string} file @param {string} own where it names none */
function fileIn(root, file, own) {
  const at = file.lastIndexOf('/chapters/');
  if (file === '') return own;
  return path.join(root, at >= 0 ? file.slice(at) : path.isAbsolute(file) ? path.relative(root, file) : file);
}

/** The line that names a TODO, 1 where none does any more. @param {string} source @param {number} todo */
function lineOfTodo(source, todo) {
  return source.split('\n').findIndex((line) => line.includes(`TODO(${todo})`)) + 1 || 1;
}

/** The exercise's own file. @param {any} verdict @param {string} root @param {string} opened the one graded */
const ownFile = (verdict, root, opened) => (opened || path.join(root, 'chapters', `${verdict.exercise}.cu`));

/** A finding at its place; the other place of a race is a problem of its own, and each leads to the other.
 * @param {any} finding @param {string} root @param {string} own @returns {Problem[]} */
function problemsOfFinding(finding, root, own) {
  const at = {file: fileIn(root, finding.file, own), line: Math.max(1, finding.line), message: 'one access'};
  const other = {file: fileIn(root, finding.other_file ?? '', own), line: finding.other_line ?? 0, message: 'the other access'};
  const told = {severity: /** @type {'note' | 'error'} */ (finding.note ? 'note' : 'error'), check: finding.check, kind: finding.kind};
  const head = {...told, file: at.file, line: at.line, message: finding.message};
  if (other.line <= 0 || (other.line === at.line && other.file === at.file)) return [{...head, related: []}];
  return [{...head, related: [other]},
    {...told, severity: 'note', file: other.file, line: other.line, message: `The other access of: ${finding.message}`, related: [at]}];
}

/** What is wrong, and where. A test that no finding explains stands at its TODO.
 * @param {any} verdict @param {string} root @param {string} opened the file that was graded
 * @param {string} source its text @returns {Problem[]} */
function problemsOf(verdict, root, opened, source) {
  const own = ownFile(verdict, root, opened), problems = /** @type {Problem[]} */ ([]);
  const add = (/** @type {Problem} */ p) => {
    // Of cases and launches that differ in their numbers alone one is enough; an error tells more than a note.
    const same = (/** @type {Problem} */ q) => p.check !== '' && q.check === p.check && q.kind === p.kind && q.file === p.file && q.line === p.line;
    const before = problems.findIndex((q) => same(q) || (q.line === p.line && q.file === p.file && q.message === p.message));
    if (before < 0) problems.push(p);
    else if (problems[before]?.severity === 'note' && p.severity === 'error') problems[before] = p;
  };
  const plain = (/** @type {number} */ line, /** @type {string} */ message, file = own, severity = /** @type {'error' | 'warning'} */ ('error')) =>
    add({file, line: Math.max(1, line), message, severity, check: '', kind: '', related: []});
  for (const device of verdict.devices) {
    for (const d of device.diagnostics) plain(d.line, d.message, fileIn(root, d.file, own), d.severity);
    for (const test of device.tests) {
      const findings = test.findings.filter((/** @type {any} */ f) => !f.expected);
      for (const finding of findings) problemsOfFinding(finding, root, own).forEach(add);
      if (test.outcome !== 'fail' || findings.some((/** @type {any} */ f) => !f.note)) continue;
      plain(lineOfTodo(source, test.todo ?? 1), `${test.name.split('.').pop()}: ${test.failures[0]?.message ?? 'failed'}`);
    }
    if (device.problem) plain(1, device.problem);
    if (device.ended_early && !device.tests.some((/** @type {any} */ t) => t.outcome === 'fail')) plain(1, device.ended_early);
  }
  return problems;
}

/** A sum of counters, by name. @param {Record<string, number>} into @param {Record<string, number>} more */
function addTo(into, more) {
  for (const [name, value] of Object.entries(more)) into[name] = (into[name] ?? 0) + value;
}

/** Beside a line: what it executed, and what each of its requests moved.
 * @param {any} profile @param {string} root @param {string} file @returns {Map<number, string>} */
function countersOf(profile, root, file) {
  const lines = /** @type {Map<number, Record<string, number>>} */ (new Map());
  for (const kernel of profile.kernels) {
    for (const line of kernel.lines) {
      if (fileIn(root, line.file, '') !== file) continue;
      if (!lines.has(line.line)) lines.set(line.line, {});
      addTo(/** @type {Record<string, number>} */ (lines.get(line.line)), line.counters);
    }
  }
  const words = (/** @type {Record<string, number>} */ c) => {
    const sum = (/** @type {string} */ memory, /** @type {string} */ what) =>
      (c[`${memory}_load_${what}`] ?? 0) + (c[`${memory}_store_${what}`] ?? 0);
    const each = (/** @type {string} */ memory, /** @type {string} */ what) => (sum(memory, what) / sum(memory, 'requests')).toFixed(1);
    const parts = [`${(c.warp_instructions ?? 0).toLocaleString('en')} instructions`];
    if (sum('global', 'requests') > 0) parts.push(`${each('global', 'sectors')} sectors a request`);
    if (sum('shared', 'requests') > 0) parts.push(`${each('shared', 'wavefronts')} passes a request`);
    return parts.join(', ');
  };
  return new Map([...lines].map(([line, counters]) => [line, words(counters)]));
}

module.exports = {countersOf, exerciseOf, lineOfTodo, problemsOf};
