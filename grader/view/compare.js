// View 7: two versions, counter by counter.
import {card, h, scroller} from './draw.js';
import {count} from './data.js';

/** @param {import('./main.js').Page} page */
export function compareView(page) {
  const other = page.reference() ?? page.earlier().at(-1), name = page.reference() ? 'reference' : 'the run before';
  if (!other) {
    return [card('', h('p', {class: 'say'}, page.data.exercise ? 'There is nothing to compare with yet: the reference comes after a pass, an earlier run of yours after the next look.' : 'Look again after a change: the two runs will stand side by side.'))];
  }
  const mine = page.kernel.totals, theirs = other.totals;
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const first = keys.find((k) => (mine[k] ?? 0) !== (theirs[k] ?? 0));
  const seconds = [page.kernel.cost.seconds, other.cost.seconds];
  const sized = JSON.stringify([page.kernel.launch.grid, page.kernel.launch.block]) === JSON.stringify([other.launch.grid, other.launch.block]);
  return [card(`Yours beside ${name}`,
    h('p', {class: 'say'}, `${page.kernel.name} takes ${page.seconds(Number(seconds[0]))}, ${other.name} ${page.seconds(Number(seconds[1]))} (${page.data.run.label}).${sized ? '' : ' They are launched with different grids or blocks.'}`),
    scroller('Counters', h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, ''), h('th', {class: 'n'}, 'yours'), h('th', {class: 'n'}, name), h('th', {class: 'n'}, 'yours ÷ other'))),
      h('tbody', {}, keys.map((k) => {
        const a = mine[k] ?? 0, b = theirs[k] ?? 0, ratio = b === 0 ? (a === 0 ? 1 : Infinity) : a / b;
        return h('tr', {class: k === first ? 'first' : ''}, h('td', {}, k.replaceAll('_', ' '), k === first ? h('span', {class: 'dim small'}, '  first difference') : null),
          h('td', {class: 'n'}, count(a)), h('td', {class: 'n'}, count(b)), h('td', {class: `n ${ratio > 1.02 ? 'worse' : ratio < 0.98 ? 'better' : ''}`}, Number.isFinite(ratio) ? ratio.toFixed(2) : '—'));
      })))))];
}
