// A part of view 3: what goes on in the background of a block. For each mbarrier the copies that it
// counts and its phases; below, who waits for which.
import {card, h, s, scroller, widePicture, word} from './draw.js';
import {count, endOf, lanesOf, size} from './data.js';

const PIPE_SIDE = 84, PIPE_TOP = 26, PIPE_WIDE = 1080;

/** "full[1]": the variable in shared memory that the mbarrier is part of.
 * @param {any} launch @param {number} offset */
export function objectName(launch, offset) {
  const variable = launch.variables.find((/** @type {any} */ v) => offset >= v.offset && offset < v.offset + v.size);
  if (!variable || variable.name === 'dynamic shared') return `byte ${offset}`;
  return variable.size === 8 ? variable.name : `${variable.name}[${(offset - variable.offset) / 8}]`;
}

/** What one phase of an mbarrier counts, copies together. @param {any} launch @param {number} object */
export function deliveriesTo(launch, object) {
  /** @type {Map<number, {start: number, end: number, bytes: number}>} */
  const out = new Map();
  for (const f of launch.pipeline.flights) {
    if (f.kind !== 0 || f.object !== object) continue;
    const end = f.end < 0 ? endOf(launch) : f.end;
    const one = out.get(f.phase) ?? {start: f.start, end, bytes: 0};
    out.set(f.phase, {start: Math.min(one.start, f.start), end: Math.max(one.end, end), bytes: one.bytes + f.bytes});
  }
  return out;
}

/** How long each warp waits for each mbarrier, longest first. @param {any} launch */
export function waitSums(launch) {
  /** @type {Map<string, {warp: number, object: number, times: number, steps: number, forever: boolean, line: number}>} */
  const sums = new Map();
  for (const w of launch.pipeline.waits) {
    const key = `${w.warp} ${w.object}`;
    const sum = sums.get(key) ?? {warp: w.warp, object: w.object, times: 0, steps: 0, forever: false, line: w.line};
    ++sum.times;
    sum.steps += Math.max(0, w.end - w.start);
    sum.forever ||= w.end < 0;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => Number(b.forever) - Number(a.forever) || b.steps - a.steps);
}

/** @param {any} launch @param {number} from @param {number} to @param {number} now */
export function pipelinePicture(launch, from, to, now) {
  const objects = [...new Set(launch.pipeline.phases.map((/** @type {any} */ p) => p.object))].sort((a, b) => Number(a) - Number(b));
  const warps = [...new Set([...launch.pipeline.waits, ...launch.pipeline.flights].map((x) => x.warp))].sort((a, b) => a - b);
  const x = (/** @type {number} */ t) => PIPE_SIDE + (Math.max(from, Math.min(to, t)) - from) * (PIPE_WIDE - PIPE_SIDE - 8) / (to - from);
  const bar = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ y, /** @type {number} */ high, /** @type {Record<string, any>} */ look, /** @type {string} */ title, /** @type {string} */ label = '') => {
    const last = end < 0 ? to : end;
    if (last <= from || start >= to) return null;
    const left = x(start), width = Math.max(1, x(last) - left);
    return s('g', {}, s('rect', {x: left, y, width, height: high, ...look}, s('title', {}, title)),
      label.length * 6 + 4 < width ? word(left + width / 2, y + high - 3, label, {'text-anchor': 'middle', class: look['class'] === 'hue0' ? 'on' : 'dim'}) : null);
  };
  const rows = [];
  let y = PIPE_TOP;
  for (const object of objects) {
    const name = objectName(launch, object), deliveries = deliveriesTo(launch, object);
    rows.push(word(PIPE_SIDE - 8, y + 14, name, {'text-anchor': 'end'}));
    for (const [phase, d] of deliveries) {
      rows.push(bar(d.start, d.end, y, 14, {class: 'hue0'}, `${size(d.bytes)} on their way, counted by phase ${phase} of ${name}, steps ${d.start} to ${d.end}`, size(d.bytes)));
    }
    const below = deliveries.size ? y + 15 : y + 4;
    for (const p of launch.pipeline.phases.filter((/** @type {any} */ q) => q.object === object)) {
      rows.push(bar(p.start, p.end, below, 12, {class: p.number % 2 ? 'phase odd' : 'phase'}, `phase ${p.number} of ${name}, parity ${p.number % 2}, ${p.end < 0 ? `from step ${p.start}, not ended` : `steps ${p.start} to ${p.end}`}`, String(p.number % 2)));
    }
    y = below + 18;
  }
  y += 6;
  for (const warp of warps) {
    rows.push(word(PIPE_SIDE - 8, y + 12, `warp ${warp}`, {'text-anchor': 'end'}), s('rect', {x: PIPE_SIDE, y, width: PIPE_WIDE - PIPE_SIDE - 8, height: 15, class: 'soft'}));
    for (const step of launch.steps.filter((/** @type {any} */ q) => q.warp === warp && q.kind === 0)) rows.push(bar(step.start, step.start + step.length, y, 15, {class: 'hue1'}, `line ${step.line}`));
    for (const w of launch.pipeline.waits.filter((/** @type {any} */ q) => q.warp === warp)) {
      const name = objectName(launch, w.object);
      rows.push(bar(w.start, w.end, y, 15, {class: w.end < 0 ? 'forever' : 'phase odd'}, `warp ${warp}, ${lanesOf(w.lanes).length} lanes, line ${w.line}: waits for phase ${w.phase} of ${name}${w.end < 0 ? ' for ever' : `, steps ${w.start} to ${w.end}`}`, name));
    }
    y += 17;
    const below = launch.pipeline.flights.filter((/** @type {any} */ f) => f.warp === warp && f.kind > 0);
    for (const f of below) rows.push(bar(f.start, f.end, y, 9, {class: f.kind === 2 ? 'hue2' : 'hue0'}, f.kind === 2 ? `${count(f.count)} wgmma of line ${f.line}, steps ${f.start} to ${f.end}` : `${size(f.bytes)} leave shared memory, steps ${f.start} to ${f.end}`));
    y += below.length ? 14 : 4;
  }
  const ticks = Array.from({length: 6}, (_, i) => Math.round(from + (to - from) * i / 5));
  return widePicture(PIPE_WIDE, y + 6, 'Copies under way, phases of mbarriers, and who waits for which',
    ticks.map((t) => s('g', {}, s('line', {x1: x(t), x2: x(t), y1: PIPE_TOP - 6, y2: y, class: 'grid'}), word(x(t), 14, count(t), {'text-anchor': t === to ? 'end' : t === from ? 'start' : 'middle', class: 'dim'}))),
    rows.filter(Boolean), now >= from && now <= to ? s('line', {x1: x(now), x2: x(now), y1: PIPE_TOP - 6, y2: y, class: 'accent', 'stroke-width': 2}) : null);
}

/** @param {any} launch @param {Element} chart where the picture goes */
export function pipelineCard(launch, chart) {
  const sums = waitSums(launch);
  return card('Pipeline', h('p', {class: 'say'}, 'For each mbarrier the copies that it counts, above, and its phases with their parity, below. A copy is under way until somebody who waits for it goes on: that is as late as is legal.'),
    scroller('Pipeline', chart),
    h('ul', {class: 'legend'}, [['hue0', 'copies under way'], ['hue1', 'a warp executes'], ['phase odd', 'waits, and phases of parity 1'], ['hue2', 'products (wgmma) under way']].map(([key, text]) =>
      h('li', {}, h('span', {class: `key ${key}`}), text))),
    sums.length ? h('ul', {class: 'who-waits'}, sums.slice(0, 12).map((w) => h('li', {class: w.forever ? 'worse' : ''},
      `warp ${w.warp} waits for ${objectName(launch, w.object)} in line ${w.line}: ${w.forever ? 'for ever' : `${count(w.times)} ${w.times === 1 ? 'time' : 'times'}, ${count(w.steps)} steps in all`}`)))
      : h('p', {}, 'Nobody waits.'),
    launch.pipeline.cut ? h('p', {class: 'dim small'}, 'The first 2,000 copies, products and waits are kept.') : null);
}
