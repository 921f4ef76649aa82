// View 6: how far the kernel is from what the card can do.
import {bar, card, h, s, scroller, widePicture, word} from './draw.js';
import {count, percent, rate} from './data.js';
import {unseenCopies} from './compare.js';

const BUSY = {issue: 'issue slots', fp32: 'fp32 pipe', integer: 'integer pipe', fp64: 'fp64 pipe', special: 'special functions', tensor: 'tensor cores',
  l1: 'L1 and shared memory', l2: 'L2', dram: 'DRAM', latency: 'warps wait'};

/** Where a kernel stands: operations per byte, operations per second, of the whole card. @param {any} kernel */
export function pointOf(kernel) {
  const {cost, totals} = kernel, flops = totals.fp32_operations ?? 0;
  return {intensity: flops / Math.max(1, cost.dram_bytes), rate: flops / cost.seconds * cost.slice, bytes: cost.dram_bytes / cost.seconds * cost.slice};
}

/** Names beside their points, none over another. @param {{x: number, y: number}[]} at @returns {number[]} */
function labelHeights(at) {
  const order = at.map((_, i) => i).sort((a, b) => Number(at[b]?.y) - Number(at[a]?.y));
  const heights = at.map((p) => p.y + 4);
  order.forEach((i, n) => {
    for (const j of order.slice(0, n)) {
      if (Math.abs(Number(at[i]?.x) - Number(at[j]?.x)) < 130) heights[i] = Math.min(Number(heights[i]), Number(heights[j]) - 14);
    }
  });
  return heights;
}

/** @param {import('./main.js').Page} page @param {{name: string, kernel: any, hue: string}[]} points */
function roof(page, points) {
  const limits = page.data.run.limits, wide = 1080, tall = 400, side = 100, low = 44;
  const placed = points.map((p) => ({...p, at: pointOf(p.kernel)})).filter((p) => p.at.rate > 0);
  const x0 = -2, x1 = 3, y1 = Math.ceil(Math.log10(limits.flops)), y0 = Math.min(y1 - 4, ...placed.map((p) => Math.floor(Math.log10(p.at.rate))));
  const x = (/** @type {number} */ v) => side + (Math.min(x1, Math.max(x0, Math.log10(v))) - x0) / (x1 - x0) * (wide - side - 16);
  const y = (/** @type {number} */ v) => tall - low - (Math.log10(v) - y0) / (y1 - y0) * (tall - low - 16);
  const ridge = limits.flops / limits.dram, left = 10 ** y0 / limits.dram;
  const dots = placed.map((p) => ({x: x(p.at.intensity), y: y(p.at.rate)})), heights = labelHeights(dots);
  return widePicture(wide, tall, 'Roofline: operations per second over operations per byte of DRAM',
    Array.from({length: x1 - x0 + 1}, (_, i) => s('g', {}, s('line', {x1: x(10 ** (x0 + i)), x2: x(10 ** (x0 + i)), y1: 16, y2: tall - low, class: 'grid'}), word(x(10 ** (x0 + i)), tall - low + 16, count(10 ** (x0 + i)) === '0' ? 10 ** (x0 + i) : count(10 ** (x0 + i)), {'text-anchor': 'middle', class: 'dim'}))),
    Array.from({length: y1 - y0 + 1}, (_, i) => s('g', {}, s('line', {x1: side, x2: wide - 16, y1: y(10 ** (y0 + i)), y2: y(10 ** (y0 + i)), class: 'grid'}), word(side - 6, y(10 ** (y0 + i)) + 4, `${rate(10 ** (y0 + i))}FLOP/s`, {'text-anchor': 'end', class: 'dim'}))),
    s('path', {d: `M${x(Math.max(10 ** x0, left))} ${y(Math.max(10 ** x0, left) * limits.dram)} L${x(ridge)} ${y(limits.flops)} L${wide - 16} ${y(limits.flops)}`, class: 'accent', 'stroke-width': 2}),
    word(wide - 24, y(limits.flops) - 7, `the fp32 pipes do no more: ${rate(limits.flops)}FLOP/s`, {'text-anchor': 'end', class: 'dim'}),
    word(x(0.2) - 10, y(0.2 * limits.dram) - 8, `DRAM brings no more: ${rate(limits.dram)}B/s`, {'text-anchor': 'end', class: 'dim'}), word((wide + side) / 2, tall - 8, 'fp32 operations for each byte of DRAM', {'text-anchor': 'middle', class: 'dim'}),
    placed.map((p, i) => s('g', {'data-point': p.name}, s('circle', {cx: dots[i]?.x, cy: dots[i]?.y, r: 7, class: p.hue}, s('title', {}, `${p.name}: ${p.at.intensity.toPrecision(3)} operations per byte, ${rate(p.at.rate)}FLOP/s`)),
      word(Number(dots[i]?.x) + 12, heights[i] ?? 0, p.name))));
}

/** Versions as they followed each other, and the reference at the end. @param {{name: string, kernel: any}[]} points
 * @param {{name: string, passed: boolean}[]} others */
const ladder = (points, others) => {
  const rank = (/** @type {string} */ name) => (name === 'reference' ? Infinity : name === 'now' ? 1e9 : others.findIndex((o) => o.name === name));
  return [...points].sort((a, b) => rank(a.name) - rank(b.name)).map((p) => ({...p, name: others.some((o) => o.name === p.name && o.passed && p.name !== 'reference') ? `${p.name}, passed` : p.name}));
};

/** @param {import('./main.js').Page} page */
export function rooflineView(page) {
  const others = page.others();
  const points = [...others.map((o) => ({name: o.name, kernel: o.kernel, hue: o.name === 'reference' ? 'hue2' : 'hue7'})).reverse(), {name: 'now', kernel: page.kernel, hue: 'hue0'}];
  const {cost, totals} = page.kernel, at = pointOf(page.kernel), limits = page.data.run.limits;
  const label = page.data.run.label;
  return [card(`How near the limits, ${label}`,
    h('p', {class: 'say'}, totals.fp32_operations ? `${at.intensity.toPrecision(3)} fp32 operations for each byte of DRAM; ${rate(at.rate)}FLOP/s, ${percent(at.rate / limits.flops)} of what the card can do.` : `No fp32 operation: what counts is memory, ${rate(at.bytes)}B/s of DRAM, ${percent(at.bytes / limits.dram)} of what a copy reaches.`),
    totals.fp32_operations ? scroller('Roofline', roof(page, points)) : null,
    totals.fp32_operations ? h('p', {class: 'small'}, 'Each point is a kernel: the further right, the more it computes with each byte; the higher, the faster. None can lie above the line. Below its slope, bringing fewer bytes lifts a point; below its level part, fewer instructions do; far below both, warps wait.') : null,
    h('p', {class: 'dim small'}, `The roofs are the card's rates in the simulator's model, which MODEL.md sources; the points are ${label}, of the whole card.`)),
  card('What is busy', h('table', {}, h('tbody', {}, Object.entries(BUSY).filter(([k]) => (cost.busy[k] ?? 0) > 0.004).sort((a, b) => cost.busy[b[0]] - cost.busy[a[0]]).map(([k, name]) =>
    h('tr', {}, h('td', {}, name), h('td', {style: 'width:60%'}, bar(cost.busy[k], `${(100 * cost.busy[k]).toFixed(0)} %`, k === cost.limiter ? 'warn' : '')))))),
  h('p', {class: 'dim small'}, `Held up by: ${cost.limiter_words}. L1 serves ${Math.round(100 * cost.l1_hit_rate)} % of its sectors, L2 ${Math.round(100 * cost.l2_hit_rate)} %.`)),
  points.length > 1 ? card('Versions, the oldest first', scroller('Versions', h('table', {class: 'small', id: 'ladder'}, h('thead', {}, h('tr', {}, ['version', 'time', 'warp instructions', 'sectors loaded', 'bank conflicts'].map((t, i) => h('th', {class: i ? 'n' : ''}, t)))),
    h('tbody', {}, ladder(points, others).map((p) => h('tr', {}, h('td', {}, p.name), h('td', {class: 'n'}, page.seconds(p.kernel.cost.seconds)),
      ...['warp_instructions', 'global_load_sectors', 'shared_bank_conflicts'].map((k) => h('td', {class: 'n'}, count(p.kernel.totals[k] ?? 0)))))))), unseenCopies(page)) : null].filter(Boolean);
}
