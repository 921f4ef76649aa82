// View 5: when copies, kernels and waits happen, and the waves in which blocks run.
import {card, h, picture, s, scroller, widePicture, word} from './draw.js';
import {count, foldedTimes, overlaps, size} from './data.js';

const KINDS = [['kernel', 'hue0'], ['library call', 'hue4'], ['copy to device', 'hue1'], ['copy to host', 'hue3'], ['copy on device', 'hue2'],
  ['copy between devices', 'hue5'], ['memset', 'hue6'], ['host function', 'hue7'], ['copy on host', 'hue7']];
/** Share of a copy beside which a kernel runs, below which it counts as alone. */
const ALONE = 0.02;
const colourOf = (/** @type {string} */ kind) => KINDS.find(([k]) => k === kind)?.[1] ?? 'hue7';

/** Where times are written: at the ends, and between them where there is room.
 * @param {[number, number][]} busy @param {(t: number) => number} x @returns {number[]} */
function ticksOf(busy, x) {
  const least = 110, end = busy.at(-1)?.[1] ?? 0;
  const wanted = busy.flatMap(([from, to]) => {
    const steps = Math.max(1, Math.floor((x(to) - x(from)) / 180));
    return Array.from({length: steps + 1}, (_, i) => (i === steps ? to : from + (to - from) * i / steps));
  });
  const shown = /** @type {number[]} */ ([]);
  for (const t of wanted) {
    const near = shown.length > 0 && x(t) - x(Number(shown.at(-1))) < least, last = x(end) - x(t) < least;
    const folded = busy.slice(1).some(([from], i) => t === from || t === busy[i]?.[1]);
    if (t !== end && !near && !last && !folded) shown.push(t);
  }
  return [...shown, end];
}

/** @param {import('./main.js').Page} page @param {any} timeline */
function gantt(page, timeline) {
  const items = timeline.items;
  const lonely = new Set(overlaps(items).filter((o) => o.share < ALONE).map((o) => o.copy));
  const begin = Math.min(...items.map((/** @type {any} */ i) => i.issued)), end = Math.max(...items.map((/** @type {any} */ i) => i.end));
  const rows = [...new Set(items.map((/** @type {any} */ i) => `${i.device}|${i.stream}`))].sort();
  const devices = new Set(items.map((/** @type {any} */ i) => i.device)).size;
  const wide = 1080, side = 148, tall = 34, top = 30;
  const {place, gaps, busy} = foldedTimes(items), room = wide - side - 10;
  const x = (/** @type {number} */ t) => side + place(Math.max(begin, Math.min(end, t))) * room;
  const y = (/** @type {number} */ row) => top + (row + 1) * tall;
  return widePicture(wide, y(rows.length) + 4, `Timeline of ${page.seconds(end - begin)}: ${items.length} pieces of work in ${rows.length} streams`,
    ticksOf(busy, x).map((t, i) => s('g', {}, s('line', {x1: x(t), x2: x(t), y1: top - 4, y2: y(rows.length), class: 'grid'}),
      word(x(t), 16, i === 0 ? '0' : page.seconds(t - begin), {'text-anchor': t === end ? 'end' : i === 0 ? 'start' : 'middle', class: 'dim'}))),
    gaps.map(([from, to]) => s('g', {}, s('rect', {x: x(from) + 3, y: top - 4, width: x(to) - x(from) - 6, height: y(rows.length) - top + 4, class: 'soft'}),
      word((x(from) + x(to)) / 2, 16, page.seconds(to - from), {'text-anchor': 'middle', class: 'dim'}))),
    word(side - 10, top + 20, 'host', {'text-anchor': 'end'}),
    timeline.waits.map(([a, b]) => s('rect', {x: x(Math.max(a, begin)), y: top + 6, width: Math.max(1, x(Math.min(b, end)) - x(Math.max(a, begin))), height: tall - 12, rx: 3, class: 'unused'}, s('title', {}, `the host waits, ${page.seconds(b - a)}`))),
    items.map((/** @type {any} */ i) => s('line', {x1: x(i.issued), x2: x(i.issued), y1: top + 4, y2: top + tall - 4, class: 'axis'})),
    rows.map((row, r) => word(side - 10, y(r) + 20, `${devices > 1 ? `${String(row).split('|')[0]}: ` : ''}${String(row).split('|')[1]}`, {'text-anchor': 'end'})),
    items.map((/** @type {any} */ i) => s('rect', {x: x(i.start), y: y(rows.indexOf(`${i.device}|${i.stream}`)) + 4, width: Math.max(1.2, x(i.end) - x(i.start)), height: tall - 8, rx: 3, class: `${colourOf(i.kind)} ${lonely.has(i) ? 'lonely' : ''}`},
      s('title', {}, `${i.kind} ${i.name}, ${page.seconds(i.end - i.start)}${i.bytes ? `, ${size(i.bytes)}` : ''}${i.line ? `, line ${i.line}` : ''}`))));
}

/** Blocks on the card, wave by wave. @param {import('./main.js').Page} page */
function waves(page) {
  const {cost, launch} = page.kernel;
  const blocks = launch.grid.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
  const together = Math.max(1, cost.occupancy.blocks * cost.multiprocessors), all = Math.ceil(blocks / together);
  const shown = Math.min(all, 24), cell = Math.min(90, 1000 / shown);
  return h('div', {}, h('p', {class: 'small dim'}, `${count(blocks)} blocks; ${cost.multiprocessors} multiprocessors hold ${cost.occupancy.blocks} each (${Math.round(100 * cost.occupancy.fraction)} % of their warps), so ${count(together)} run at a time: ${cost.waves.toFixed(1)} waves${cost.slice > 1 ? `. The card is divided by ${Number(cost.slice.toPrecision(3))}, so that small tests fill it` : ''}.`),
    scroller('Waves', picture(shown * cell + 20, 74, `${all} waves of blocks`, Array.from({length: shown}, (_, w) => {
      const full = Math.min(1, (blocks - w * together) / together);
      return s('g', {}, s('rect', {x: 10 + w * cell, y: 8, width: cell - 4, height: 42, rx: 4, class: 'soft'}),
        s('rect', {x: 10 + w * cell, y: 8 + 42 * (1 - full), width: cell - 4, height: 42 * full, rx: 4, class: 'hue0'}),
        word(10 + (w + 0.5) * cell - 2, 66, w + 1, {'text-anchor': 'middle', class: 'dim'}));
    }))));
}

/** @param {import('./main.js').Page} page */
export function timeView(page) {
  const timeline = page.data.run.timeline;
  const out = [];
  if (timeline && timeline.items.length > 0) {
    const lonely = overlaps(timeline.items).filter((o) => o.share < ALONE), copies = overlaps(timeline.items);
    const kinds = new Set(timeline.items.map((/** @type {any} */ i) => i.kind));
    const divided = page.data.run.profile.kernels.some((/** @type {any} */ k) => k.cost?.slice > 1);
    out.push(card('', h('p', {class: 'say'}, `A row for each stream, and when its work ran; times are ${timeline.label}. ${copies.length === 0 ? 'Nothing is copied here.' : lonely.length === 0 ? 'Every copy has a kernel beside it.' : `${lonely.length} of ${copies.length} copies have no kernel beside them.`}`),
      divided ? h('p', {class: 'dim small', id: 'divided'}, 'A small launch is timed on as many multiprocessors as it can fill, not on the whole card: beside a copy it looks longer than it would be.') : null,
      lonely.length > 0 && kinds.has('kernel') ? h('ul', {class: 'small', id: 'lonely'}, lonely.slice(0, 6).map(({copy}) => h('li', {}, `${copy.kind}${copy.line ? `, line ${copy.line}` : ''}, ${copy.stream}: ${page.seconds(copy.end - copy.start)} alone`)), lonely.length > 6 ? h('li', {}, `and ${lonely.length - 6} more`) : null) : null,
      scroller('Timeline', gantt(page, timeline)),
      h('ul', {class: 'legend'}, KINDS.filter(([k]) => kinds.has(k)).map(([k, c]) => h('li', {}, h('span', {class: `key ${c}`}), k)),
        h('li', {}, h('span', {class: 'key unused'}), 'the host waits'), lonely.length > 0 ? h('li', {}, h('span', {class: 'key lonely'}), 'no kernel beside it') : null, h('li', {}, h('span', {class: 'dim'}, '|'), 'the host makes the call'), foldedTimes(timeline.items).gaps.length ? h('li', {}, h('span', {class: 'key', style: 'background:var(--soft)'}), 'nothing happens for as long as is written above: drawn narrow') : null),
      h('details', {}, h('summary', {}, `All ${timeline.items.length} as a table`), scroller('All work', h('table', {class: 'small'}, h('thead', {}, h('tr', {}, ['what', 'stream', 'begins', 'takes', 'bytes', 'line'].map((t) => h('th', {}, t)))),
        h('tbody', {}, timeline.items.map((/** @type {any} */ i) => h('tr', {}, h('td', {}, i.kind === 'kernel' ? i.name : i.kind), h('td', {}, i.stream),
          h('td', {class: 'n'}, page.seconds(i.start - timeline.items[0].issued)), h('td', {class: 'n'}, page.seconds(i.end - i.start)), h('td', {class: 'n'}, i.bytes ? size(i.bytes) : ''), h('td', {class: 'n'}, i.line ?? ''))))))),
      timeline.left_out > 0 ? h('p', {class: 'dim small'}, `and ${count(timeline.left_out)} more pieces of work`) : null,
      page.data.exercise ? h('p', {class: 'dim small'}, 'Of all stretches between two resets of the counters, this is one with work of the file itself, of these the one with most streams, and then the longest.') : null));
  }
  out.push(card(`Waves of ${page.kernel.name}`, waves(page)));
  return out;
}
