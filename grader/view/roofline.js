// View 6: how far the kernel is from what the card can do.
import {bar, card, h, picture, s, scroller, word} from './draw.js';
import {percent, rate} from './data.js';

const BUSY = {issue: 'issue slots', fp32: 'fp32 pipe', integer: 'integer pipe', fp64: 'fp64 pipe', special: 'special functions', tensor: 'tensor cores',
  l1: 'L1 and shared memory', l2: 'L2', dram: 'DRAM', latency: 'warps wait'};

/** Where a kernel stands: operations per byte, operations per second, of the whole card. @param {any} kernel */
export function pointOf(kernel) {
  const {cost, totals} = kernel, flops = totals.fp32_operations ?? 0;
  return {intensity: flops / Math.max(1, cost.dram_bytes), rate: flops / cost.seconds * cost.slice, bytes: cost.dram_bytes / cost.seconds * cost.slice};
}

/** @param {import('./main.js').Page} page @param {{name: string, kernel: any, hue: string}[]} points */
function roof(page, points) {
  const limits = page.data.run.limits, wide = 720, tall = 360, side = 70, low = 40;
  const placed = points.map((p) => ({...p, at: pointOf(p.kernel)})).filter((p) => p.at.rate > 0);
  const x0 = -2, x1 = 3, y1 = Math.ceil(Math.log10(limits.flops)), y0 = Math.min(y1 - 4, ...placed.map((p) => Math.floor(Math.log10(p.at.rate))));
  const x = (/** @type {number} */ v) => side + (Math.min(x1, Math.max(x0, Math.log10(v))) - x0) / (x1 - x0) * (wide - side - 16);
  const y = (/** @type {number} */ v) => tall - low - (Math.log10(v) - y0) / (y1 - y0) * (tall - low - 16);
  const ridge = limits.flops / limits.dram, left = 10 ** y0 / limits.dram;
  return picture(wide, tall, 'Roofline: operations per second over operations per byte of DRAM',
    Array.from({length: x1 - x0 + 1}, (_, i) => s('g', {}, s('line', {x1: x(10 ** (x0 + i)), x2: x(10 ** (x0 + i)), y1: 16, y2: tall - low, class: 'grid'}), word(x(10 ** (x0 + i)), tall - low + 16, 10 ** (x0 + i), {'text-anchor': 'middle', class: 'dim'}))),
    Array.from({length: y1 - y0 + 1}, (_, i) => s('g', {}, s('line', {x1: side, x2: wide - 16, y1: y(10 ** (y0 + i)), y2: y(10 ** (y0 + i)), class: 'grid'}), word(side - 6, y(10 ** (y0 + i)) + 4, `${10 ** (y0 + i - 9)} G`, {'text-anchor': 'end', class: 'dim'}))),
    s('path', {d: `M${x(Math.max(10 ** x0, left))} ${y(Math.max(10 ** x0, left) * limits.dram)} L${x(ridge)} ${y(limits.flops)} L${wide - 16} ${y(limits.flops)}`, class: 'accent', 'stroke-width': 2}),
    word(wide - 20, y(limits.flops) - 6, 'fp32 at most', {'text-anchor': 'end', class: 'dim'}),
    word(x(1) + 6, y(limits.dram) + 20, 'DRAM at most', {class: 'dim'}), word(wide / 2, tall - 6, 'fp32 operations per byte of DRAM', {'text-anchor': 'middle', class: 'dim'}),
    placed.map((p, i) => s('g', {}, s('circle', {cx: x(p.at.intensity), cy: y(p.at.rate), r: 7, class: p.hue}, s('title', {}, `${p.name}: ${p.at.intensity.toPrecision(3)} operations per byte, ${(p.at.rate / 1e9).toPrecision(3)} G per second`)),
      word(x(p.at.intensity) + 12, y(p.at.rate) + 4 + (i % 2 ? 14 : 0), p.name))));
}

/** @param {import('./main.js').Page} page */
export function rooflineView(page) {
  const points = [...page.earlier().map((k, i) => ({name: `run ${i + 1}`, kernel: k, hue: 'hue7'})), {name: 'now', kernel: page.kernel, hue: 'hue0'}];
  const reference = page.reference();
  if (reference) points.push({name: 'reference', kernel: reference, hue: 'hue2'});
  const {cost, totals} = page.kernel, at = pointOf(page.kernel), limits = page.data.run.limits;
  const label = page.data.run.label;
  return [card(`How near the limits, ${label}`,
    h('p', {class: 'say'}, totals.fp32_operations ? `${at.intensity.toPrecision(3)} fp32 operations for each byte of DRAM; ${rate(at.rate)}FLOP/s, ${percent(at.rate / limits.flops)} of what the card can do.` : `No fp32 operation: what counts is memory, ${rate(at.bytes)}B/s of DRAM, ${percent(at.bytes / limits.dram)} of what a copy reaches.`),
    totals.fp32_operations ? scroller('Roofline', roof(page, points)) : null,
    h('p', {class: 'dim small'}, `The roofs are the card's rates in the simulator's model, which MODEL.md sources; the points are ${label}, of the whole card.`)),
  card('What is busy', h('table', {}, h('tbody', {}, Object.entries(BUSY).filter(([k]) => (cost.busy[k] ?? 0) > 0.004).sort((a, b) => cost.busy[b[0]] - cost.busy[a[0]]).map(([k, name]) =>
    h('tr', {}, h('td', {}, name), h('td', {style: 'width:60%'}, bar(cost.busy[k], `${(100 * cost.busy[k]).toFixed(0)} %`, k === cost.limiter ? 'warn' : '')))))),
  h('p', {class: 'dim small'}, `Held up by: ${cost.limiter_words}. L1 serves ${Math.round(100 * cost.l1_hit_rate)} % of its sectors, L2 ${Math.round(100 * cost.l2_hit_rate)} %.`)),
  points.length > 1 ? card('Steps of the ladder', h('table', {class: 'small'}, h('thead', {}, h('tr', {}, ['', 'time', 'instructions', 'sectors loaded', 'bank conflicts'].map((t) => h('th', {}, t)))),
    h('tbody', {}, points.map((p) => h('tr', {}, h('td', {}, p.name), h('td', {class: 'n'}, page.seconds(p.kernel.cost.seconds)),
      ...['warp_instructions', 'global_load_sectors', 'shared_bank_conflicts'].map((k) => h('td', {class: 'n'}, (p.kernel.totals[k] ?? 0).toLocaleString('en-US')))))))) : null].filter(Boolean);
}
