// View 7: two versions, counter by counter.
import {card, h, scroller} from './draw.js';
import {count} from './data.js';

/** What a kept version is called where it is spoken of. @param {{name: string, passed: boolean}} other */
export const versionName = (other) => (other.name === 'reference' ? 'the reference' : `${other.name} of yours, which ${other.passed ? 'passed' : 'did not pass'}`);

/** Copies of the file that nobody has looked at yet. @param {import('./main.js').Page} page */
export function unseenCopies(page) {
  const unseen = page.data.history?.unseen ?? [];
  if (unseen.length === 0) return null;
  return h('p', {class: 'dim small'}, `${unseen.length === 1 ? 'A copy' : 'Copies'} of your file that ${unseen.length === 1 ? 'is' : 'are'} kept but not counted yet. To count one it has to be compiled and run, as your file: `,
    h('code', {}, `./grade restore ${page.data.exercise} ${unseen[0]}`), ' puts it in the place of your file, which is kept in turn, and the next view counts it.');
}

/** The version to begin with: the reference, or the last that passed, or the last.
 * @param {{name: string, passed: boolean}[]} others */
export function firstToCompare(others) {
  const passed = others.findLastIndex((o) => o.passed);
  return others[0]?.name === 'reference' ? 0 : passed >= 0 ? passed : others.length - 1;
}

/** @param {any} mine @param {any} theirs @param {string} name */
function counterTable(mine, theirs, name) {
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((k) => (mine[k] ?? 0) > 0 || (theirs[k] ?? 0) > 0);
  const first = keys.find((k) => (mine[k] ?? 0) !== (theirs[k] ?? 0));
  return h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'counted'), ...['yours', name, 'yours ÷ other'].map((t) => h('th', {class: 'n'}, t)))),
    h('tbody', {}, keys.map((k) => {
      const a = mine[k] ?? 0, b = theirs[k] ?? 0, ratio = b === 0 ? (a === 0 ? 1 : Infinity) : a / b;
      const mood = ratio > 1.02 ? 'worse' : ratio < 0.98 ? 'better' : '';
      return h('tr', {class: k === first ? 'first' : '', 'data-key': k}, h('td', {}, k.replaceAll('_', ' '), k === first ? h('span', {class: 'dim small'}, '  first difference') : null),
        h('td', {class: 'n'}, count(a)), h('td', {class: 'n'}, count(b)),
        h('td', {class: `n ${mood}`}, Number.isFinite(ratio) ? `${mood === 'worse' ? '▲ ' : mood === 'better' ? '▼ ' : ''}${ratio.toFixed(2)}` : 'only yours'));
    })));
}

/** @param {import('./main.js').Page} page */
export function compareView(page) {
  const others = page.others();
  if (others.length === 0) {
    return [card('', h('p', {class: 'say'}, page.data.exercise ? 'There is nothing to compare with yet. The reference stands here once the exercise has passed; an earlier version of yours, once you have changed the file and looked again.' : 'A program has no versions: only exercises keep them.'), unseenCopies(page))];
  }
  const body = h('div', {'aria-live': 'polite'});
  const show = (/** @type {number} */ i) => {
    const other = /** @type {{name: string, passed: boolean, kernel: any}} */ (others[i]);
    const sized = JSON.stringify([page.kernel.launch.grid, page.kernel.launch.block]) === JSON.stringify([other.kernel.launch.grid, other.kernel.launch.block]);
    body.replaceChildren(
      h('p', {class: 'say', id: 'say'}, `Yours beside ${versionName(other)}: `, h('code', {}, page.kernel.name), ` takes ${page.seconds(page.kernel.cost.seconds)}, `,
        h('code', {}, other.kernel.name), ` ${page.seconds(other.kernel.cost.seconds)} (${page.data.run.label}).${sized ? '' : ' They are launched with different grids or blocks.'}`),
      scroller('Counters', counterTable(page.kernel.totals, other.kernel.totals, other.name)),
      h('p', {class: 'dim small'}, 'Counted in the largest launch of each. ▲: yours does more of it, ▼: less. The row with a frame is the first in which the two differ.'));
  };
  const start = firstToCompare(others);
  const select = h('select', {'aria-label': 'Compare with', id: 'other', onchange: (/** @type {any} */ e) => show(Number(e.target.value))},
    others.map((o, i) => h('option', {value: i, selected: i === start}, `${o.name}${o.name === 'reference' || !o.passed ? '' : ', passed'}`)));
  show(start);
  return [card('', h('div', {class: 'row'}, h('span', {class: 'dim small'}, 'Compare with'), select), body, unseenCopies(page))];
}
