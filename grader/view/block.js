// View 3: one block, threads down and time across: who runs which line, who waits at which barrier,
// where a warp splits; and shared memory as it is at any moment.
import {card, h, hue, s, scroller, stepper, widePicture, word} from './draw.js';
import {pipelineCard, pipelinePicture} from './pipeline.js';
import {count, declaredShape, dims, endOf, lanesOf, sharedAt} from './data.js';

const SIDE = 64, TOP = 26, WIDE = 1080;

/** Runs of neighbouring lanes of a mask. @param {number} mask @returns {[number, number][]} first, how many */
function runsOf(mask) {
  const out = /** @type {[number, number][]} */ ([]);
  for (const lane of lanesOf(mask)) {
    const last = out.at(-1);
    if (last && last[0] + last[1] === lane) ++last[1]; else out.push([lane, 1]);
  }
  return out;
}

const OTHERS = 'hue7';

/** A colour for each of the lines that take most steps; the others share one, so that no colour
 * means two lines. @param {any} launch */
function coloursOf(launch) {
  const steps = new Map();
  for (const x of launch.steps) if (x.kind === 0) steps.set(x.line, (steps.get(x.line) ?? 0) + x.length);
  const most = new Set([...steps].sort((a, b) => b[1] - a[1]).slice(0, steps.size > 8 ? 7 : 8).map(([line]) => line));
  let next = 0;
  return new Map([...steps.keys()].sort((a, b) => a - b).map((line) => [line, most.has(line) ? hue(next++) : OTHERS]));
}

/** What the colours mean. @param {Map<number, string>} colours @param {string[]} source */
function legendOf(colours, source) {
  const crowded = colours.size > 8, others = [...colours].filter(([, c]) => crowded && c === OTHERS).map(([line]) => line);
  return [...[...colours].filter(([line]) => !others.includes(line)).map(([line, colour]) => h('li', {}, h('span', {class: `key ${colour}`}), h('span', {}, `${line}  `, h('code', {}, (source[Number(line) - 1] ?? '').trim().slice(0, 60))))),
    others.length ? h('li', {}, h('span', {class: `key ${OTHERS}`}), `lines ${others.join(', ')}`) : null];
}

/** @param {import('./main.js').Page} page @param {any} launch @param {number} from @param {number} to @param {number} now */
function timePicture(page, launch, from, to, now) {
  const threads = launch.block.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1), warps = Math.ceil(threads / 32);
  const lane = warps === 1 ? 9 : warps <= 2 ? 5 : warps <= 4 ? 3 : warps <= 8 ? 2 : 1;
  const tall = Math.min(32, threads) * lane + 8, scale = (WIDE - SIDE - 8) / (to - from);
  const x = (/** @type {number} */ t) => SIDE + (t - from) * scale;
  const colours = coloursOf(launch);
  const bars = launch.steps.filter((/** @type {any} */ step) => step.start < to && step.start + step.length > from).flatMap((/** @type {any} */ step) => {
    const left = x(Math.max(from, step.start)), width = Math.max(0.6, x(Math.min(to, step.start + step.length)) - left);
    const names = ['', ' waits at a barrier', ' waits, and nobody will come'];
    const title = `warp ${step.warp}, line ${step.line}${names[step.kind]}, steps ${step.start} to ${step.start + step.length}, ${lanesOf(step.lanes).length} lanes`;
    return runsOf(step.lanes).map(([first, n]) => s('rect', {
      x: left, y: TOP + step.warp * tall + first * lane, width, height: n * lane - (lane > 3 && n < 32 ? 0.5 : 0),
      class: step.kind === 0 ? colours.get(step.line) : undefined, fill: step.kind === 0 ? undefined : `url(#${step.kind === 1 ? 'waits' : 'forever'})`,
      'data-line': step.line}, s('title', {}, title)));
  });
  const ticks = Array.from({length: 6}, (_, i) => Math.round(from + (to - from) * i / 5));
  return widePicture(WIDE, TOP + warps * tall + 6, `The threads of the block over ${count(endOf(launch))} steps`,
    s('defs', {}, ...[['waits', 'var(--unused)'], ['forever', 'var(--bad)']].map(([id, colour]) =>
      s('pattern', {id, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
        s('rect', {width: 2, height: 5, style: `fill:${colour}`})))),
    ticks.map((t) => s('g', {}, s('line', {x1: x(t), x2: x(t), y1: TOP - 6, y2: TOP + warps * tall, class: 'grid'}),
      word(x(t), 14, count(t), {'text-anchor': t === to ? 'end' : t === from ? 'start' : 'middle', class: 'dim'}))),
    Array.from({length: warps}, (_, w) => s('g', {},
      word(SIDE - 10, TOP + w * tall + 12, `warp ${w}`, {'text-anchor': 'end', class: 'dim'}),
      s('rect', {x: SIDE, y: TOP + w * tall, width: WIDE - SIDE - 8, height: Math.min(32, threads - 32 * w) * lane, class: 'soft'}))),
    bars,
    now >= from && now <= to ? s('line', {x1: x(now), x2: x(now), y1: TOP - 6, y2: TOP + warps * tall, class: 'accent', 'stroke-width': 2}) : null);
}

/** Elements of a variable in shared memory at a moment, as a table. @param {import('./main.js').Page} page
 * @param {any} launch @param {any} variable @param {{values: Map<number, any>, fresh: Set<number>}} memory */
function variableTable(page, launch, variable, memory) {
  const inside = launch.stores.flatMap((/** @type {any} */ x) => [...x.values.keys()]).filter((/** @type {number} */ o) => o >= variable.offset && o < variable.offset + variable.size).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  if (inside.length === 0) return null;
  const site = launch.sites.find((/** @type {any} */ x) => x.kind.startsWith('shared'));
  const element = site?.element ?? 4, all = Math.floor(variable.size / element);
  const source = launch.files.map((/** @type {string} */ f) => page.data.sources[f] ?? '').join('\n');
  const shape = declaredShape(source, variable.name, all);
  const cols = shape.length > 1 ? Number(shape.at(-1)) : Math.min(16, all), rows = Math.ceil(all / cols);
  const shownCols = Math.min(cols, 33), shownRows = Math.min(rows, 33);
  const cells = [h('span', {class: 'index'}, ''), ...Array.from({length: shownCols}, (_, c) => h('span', {class: 'index'}, c))];
  for (let r = 0; r < shownRows; ++r) {
    cells.push(h('span', {class: 'index'}, r));
    for (let c = 0; c < shownCols; ++c) {
      const offset = variable.offset + (r * cols + c) * element;
      const value = memory.values.get(offset);
      const text = value === undefined ? '·' : typeof value === 'number' ? String(Number(value.toPrecision(3))) : value;
      cells.push(h('span', {class: value === undefined ? 'empty' : memory.fresh.has(offset) ? 'fresh' : ''}, text));
    }
  }
  return h('div', {}, h('h3', {}, `${variable.name}${shape.length > 1 ? `[${shape.join('][')}]` : ''}`),
    scroller(variable.name, h('div', {class: 'cells', style: `grid-template-columns:repeat(${shownCols + 1},auto)`}, cells)),
    shownCols < cols || shownRows < rows ? h('p', {class: 'dim small'}, `the first ${shownRows} of ${rows} rows, ${shownCols} of ${cols} columns`) : null);
}

/** @param {import('./main.js').Page} page */
export function blockView(page) {
  const choices = [page.launch, ...page.wrong];
  const launch = page.wrong[0] ?? page.launch;
  if (launch.steps.length === 0) return [card('', h('p', {}, 'No block of this kernel was recorded.'))];
  const end = endOf(launch);
  let from = 0, to = end, now = end;
  const chart = h('div', {}), pipeline = h('div', {}), memory = h('div', {}), at = h('p', {class: 'dim small', 'aria-live': 'polite'});
  const draw = () => {
    chart.replaceChildren(scroller('Threads and time', timePicture(page, launch, from, to, now)));
    if (launch.pipeline) pipeline.replaceChildren(pipelinePicture(launch, from, to, now));
    const state = sharedAt(launch, now);
    const last = launch.steps.filter((/** @type {any} */ x) => x.start < now && x.start + x.length >= now && x.kind === 0);
    at.textContent = `Step ${count(now)} of ${count(end)}: ${last.map((/** @type {any} */ x) => `warp ${x.warp} in line ${x.line}`).slice(0, 6).join(', ') || 'nobody runs'}.`;
    memory.replaceChildren(...launch.variables.map((/** @type {any} */ v) => variableTable(page, launch, v, state)).filter(Boolean));
  };
  const zoom = (/** @type {number} */ factor) => {
    const width = Math.max(16, Math.min(end, (to - from) * factor)), middle = factor < 1 ? now : (from + to) / 2;
    from = Math.max(0, Math.min(end - width, Math.round(middle - width / 2)));
    to = Math.min(end, Math.round(from + width));
    draw();
  };
  const waits = launch.steps.filter((/** @type {any} */ x) => x.kind === 1).reduce((/** @type {number} */ a, /** @type {any} */ x) => a + x.length * lanesOf(x.lanes).length, 0);
  const runs = launch.steps.filter((/** @type {any} */ x) => x.kind === 0).reduce((/** @type {number} */ a, /** @type {any} */ x) => a + x.length * lanesOf(x.lanes).length, 0);
  const split = launch.steps.filter((/** @type {any} */ x) => x.kind === 0 && lanesOf(x.lanes).length < 32);
  const forever = launch.steps.filter((/** @type {any} */ x) => x.kind === 2);
  const tile = (/** @type {any} */ value, /** @type {string} */ name, /** @type {string} */ mood = '') => h('div', {class: `tile ${mood}`}, h('b', {}, value), h('span', {}, name));
  const colours = coloursOf(launch);
  const source = (page.data.sources[launch.files[0]] ?? '').split('\n');
  draw();
  return [card('',
    choices.length > 1 ? h('p', {class: 'worse'}, 'This is the block in which something was found wrong.') : null,
    h('p', {class: 'say'}, `Block (${launch.index.join(', ')}) of a grid of ${dims(launch.grid)}, ${dims(launch.block)} threads. Down: threads, warp by warp. Across: instructions of a warp, one step each; at a barrier all warps are level again.`),
    h('div', {class: 'tiles'}, tile(count(end), 'steps'), tile(`${(100 * waits / (waits + runs || 1)).toFixed(0)} %`, 'of the lanes’ steps wait at a barrier'),
      tile(count(split.reduce((/** @type {number} */ a, /** @type {any} */ x) => a + x.length, 0)), 'steps by some lanes of a warp only', split.length ? '' : 'good'),
      forever.length ? tile(forever.length, 'groups wait for somebody who never comes', 'bad') : null),
    h('div', {class: 'row'}, h('button', {type: 'button', onclick: () => zoom(0.5)}, 'closer'), h('button', {type: 'button', onclick: () => zoom(2)}, 'wider'),
      stepper('Step', end + 1, end, (t) => { now = t; if (t < from || t > to) { const w = to - from; from = Math.max(0, Math.min(end - w, t - Math.floor(w / 2))); to = from + w; } draw(); })),
    at, chart,
    h('ul', {class: 'legend'}, legendOf(colours, source),
      h('li', {}, h('span', {class: 'key waits'}), 'waits at a barrier'), forever.length ? h('li', {}, h('span', {class: 'key forever'}), 'waits for ever') : null),
    launch.cut ? h('p', {class: 'dim small'}, 'The block went on for longer: its first 4,000 stretches are kept.') : null),
  launch.pipeline ? pipelineCard(launch, pipeline) : null,
  launch.variables.length ? card('Shared memory at this step', memory, h('p', {class: 'dim small'}, 'A dot: not written yet. Bold: written by the step before. Stores of the program are followed, asynchronous copies are not.')) : null].filter(Boolean);
}
