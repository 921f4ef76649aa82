// What the simulator recorded, as the pictures ask for it. No drawing here: tests call these
// functions as they are.

/**
 * @typedef {{number: number, block: number, warp: number, mask: number, transactions: number,
 *   array: number, offsets: (number|null)[]}} Sample  offsets in bytes by lane, null: not active
 * @typedef {{pc: number, file: string, line: number, kind: string, bytes: number, element: number,
 *   executions: number, samples: Sample[]}} Site
 * @typedef {{kind: number, warp: number, start: number, length: number, line: number,
 *   lanes: number}} Step
 * @typedef {{name: string, bytes: number, skew: number, made_at: string}} ArrayInfo
 * @typedef {{name: string, grid: number[], block: number[], numbers: number[], arrays: ArrayInfo[],
 *   variables: {name: string, offset: number, size: number}[], sites: Site[],
 *   code: {line: number, ptx: string, issued: number, lanes: number}[],
 *   steps: Step[], stores: {time: number, warp: number, line: number, values: Map<number, any>}[],
 *   index: number[], cut: boolean, files: string[], wrong: boolean,
 *   pipeline: {phases: any[], flights: any[], waits: any[], cut: boolean} | null}} Launch
 */

export const WARP = 32, SECTOR = 32, LINE = 128, BANKS = 32;

/** Lanes of a mask. @param {number} mask @returns {number[]} */
export const lanesOf = (mask) => [...Array(WARP).keys()].filter((i) => (mask >>> i) & 1);

/** @param {any[]} row @returns {Sample} */
function sampleOf([number, block, warp, mask, transactions, array, first, distance]) {
  let next = 0;
  const offsets = [...Array(WARP).keys()].map((i) => {
    if (!((mask >>> i) & 1)) return null;
    return Array.isArray(first) ? first[next++] : first + i * distance;
  });
  return {number, block, warp, mask, transactions, array, offsets};
}

/** @param {string} name @param {any} raw the recorder's "view" @param {boolean} wrong @returns {Launch} */
export function launchOf(name, raw, wrong) {
  const steps = raw.steps ?? {steps: [], stores: [], index: [0, 0, 0], cut: false};
  const pairs = (/** @type {any[]} */ list) =>
    new Map(Array.from({length: list.length / 2}, (_, i) => [list[2 * i], list[2 * i + 1]]));
  return {
    name, wrong, grid: raw.grid, block: raw.block, numbers: raw.numbers, arrays: raw.arrays,
    variables: raw.variables, files: raw.files, index: steps.index, cut: steps.cut,
    sites: raw.sites.map((/** @type {any} */ s) => ({
      ...s, file: raw.files[s.line[0]], line: s.line[1], samples: s.samples.map(sampleOf)})),
    code: raw.code.map(([, line, ptx, issued, lanes]) => ({line, ptx, issued, lanes})),
    steps: steps.steps.map(([kind, warp, start, length, , line, lanes]) =>
      ({kind, warp, start, length, line, lanes})),
    pipeline: pipelineOf(steps.pipeline),
    stores: steps.stores.map(([time, warp, , line, values]) =>
      ({time, warp, line, values: pairs(values)})),
  };
}

/** What goes on in the background of the block; -1: a time that has not come. An mbarrier is its
 * offset in shared memory. @param {any} raw */
function pipelineOf(raw) {
  if (!raw) return null;
  return {
    cut: raw.cut,
    phases: raw.phases.map(([object, number, start, end]) => ({object, number, start, end})),
    flights: raw.flights.map(([kind, warp, start, end, shared, bytes, object, phase, count, , line]) =>
      ({kind, warp, start, end, shared, bytes, object, phase, count, line})),
    waits: raw.waits.map(([warp, lanes, start, end, object, phase, , line]) =>
      ({warp, lanes, start, end, object, phase, line})),
  };
}

/** "read from", "write to", "atomic on" */
export const verbOf = (/** @type {string} */ kind) =>
  kind.endsWith('load') ? 'read from' : kind.endsWith('store') ? 'write to' : 'atomic on';

export const isShared = (/** @type {Site} */ site) => site.kind.startsWith('shared');

/** The variable in shared memory that holds the byte. */
export function variableAt(/** @type {Launch} */ launch, /** @type {number} */ offset) {
  return launch.variables.find((v) => offset >= v.offset && offset < v.offset + v.size);
}

/** What an execution is about: the name of its array, and where that begins and ends.
 * @param {Launch} launch @param {Site} site @param {Sample} sample */
export function targetOf(launch, site, sample) {
  const first = sample.offsets.find((o) => o !== null) ?? 0;
  if (isShared(site)) {
    const variable = variableAt(launch, first);
    return {name: variable?.name ?? 'shared memory', begin: variable?.offset ?? 0,
      bytes: variable?.size ?? 0, skew: 0};
  }
  if (site.kind.startsWith('local')) return {name: 'local memory', begin: 0, bytes: 0, skew: 0};
  const array = launch.arrays[sample.array];
  return {name: array?.name ?? 'addresses', begin: 0, bytes: array?.bytes ?? 0, skew: array?.skew ?? 0};
}

/** Sectors that a request moves, by 128-byte line. Offsets count from the array's first byte, and
 * `skew` says how far that is from a line's.
 * @param {Site} site @param {Sample} sample @param {number} skew */
export function sectorsOf(site, sample, skew) {
  /** @type {Map<number, Map<number, number[]>>} line -> word in it -> lanes */
  const lines = new Map();
  const moved = new Set();
  let unique = 0;
  const seen = new Set();
  for (let lane = 0; lane < WARP; ++lane) {
    const offset = sample.offsets[lane];
    if (offset === null) continue;
    if (!seen.has(offset)) unique += site.bytes;
    seen.add(offset);
    const first = offset + skew;
    for (let at = first; at < first + site.bytes; at += Math.min(4, site.bytes)) {
      moved.add(Math.floor(at / SECTOR));
      const line = Math.floor(at / LINE), word = Math.floor((at - line * LINE) / 4);
      if (!lines.has(line)) lines.set(line, new Map());
      const words = /** @type {Map<number, number[]>} */ (lines.get(line));
      if (!words.has(word)) words.set(word, []);
      const lanes = /** @type {number[]} */ (words.get(word));
      if (lanes.at(-1) !== lane) lanes.push(lane);
    }
  }
  return {lines: [...lines].sort((a, b) => a[0] - b[0]), moved, unique};
}

/** How lanes of a request to shared memory are served: each pass a map from bank to its word and
 * lanes. Halves of 8 bytes per lane, quarters of 16, are served one after the other, unless
 * neighbours share their words (exec/shared_banks.h says when).
 * @param {Site} site @param {Sample} sample */
export function passesOf(site, sample) {
  const width = site.bytes <= 4 ? 32 : site.bytes === 8 ? 16 : 8;
  const all = lanesOf(sample.mask);
  const serve = (/** @type {number[]} */ lanes) => {
    /** @type {Map<number, number[]>[][]} by bank: words in the order of their lanes */
    const banks = Array.from({length: BANKS}, () => /** @type {any[]} */ ([]));
    for (const lane of lanes) {
      const first = Math.floor(/** @type {number} */ (sample.offsets[lane]) / 4);
      for (let word = first; word < first + Math.max(1, site.bytes / 4); ++word) {
        const queue = /** @type {any[]} */ (banks[((word % BANKS) + BANKS) % BANKS]);
        const known = queue.find((q) => q.word === word);
        if (known) known.lanes.push(lane); else queue.push({word, lanes: [lane]});
      }
    }
    const passes = Math.max(0, ...banks.map((q) => q.length));
    return Array.from({length: passes}, (_, p) =>
      new Map(banks.flatMap((q, bank) => (q[p] ? [[bank, q[p]]] : []))));
  };
  if (width === 32) return serve(all);
  /** @type {Map<number, any>[]} */
  const out = [];
  for (let first = 0; first < WARP; first += 2 * width) {
    const pair = all.filter((l) => l >= first && l < first + 2 * width);
    const low = pair.filter((l) => l < first + width), high = pair.filter((l) => l >= first + width);
    const apart = [...serve(low), ...serve(high)];
    const shares = [1, 2].some((d) => pair.every((l) =>
      !pair.includes(l ^ d) || sample.offsets[l] === sample.offsets[l ^ d]));
    const together = low.length && high.length && shares ? serve(pair) : apart;
    out.push(...(together.length < apart.length ? together : apart));
  }
  return out;
}

/** Value of a constant expression of sizes: names, numbers, + - * / and parentheses.
 * @param {string} text @param {Map<string, number>} names @returns {number} NaN: none */
function valueOf(text, names) {
  const tokens = text.replace(/\/\/.*$/gm, '').match(/[A-Za-z_]\w*|\d+|[-+*/()]/g) ?? [];
  let at = 0;
  const atom = () => {
    const token = tokens[at++];
    if (token === '(') {
      const inner = sum();
      ++at;
      return inner;
    }
    if (token === undefined) return NaN;
    return /^\d/.test(token) ? Number(token) : names.get(token) ?? NaN;
  };
  const product = () => {
    let value = atom();
    while (tokens[at] === '*' || tokens[at] === '/') {
      value = tokens[at++] === '*' ? value * atom() : Math.floor(value / atom());
    }
    return value;
  };
  const sum = () => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') {
      value = tokens[at++] === '+' ? value + product() : value - product();
    }
    return value;
  };
  return sum();
}

/** Dimensions that the source gives an array in shared memory, if they fit its size.
 * @param {string} source @param {string} name @param {number} elements @returns {number[]} */
export function declaredShape(source, name, elements) {
  const names = new Map();
  const constant = /constexpr\s+(?:\w+\s+)+?(\w+)\s*=\s*([^;]+);/g;
  for (const [, id, value] of source.matchAll(constant)) names.set(id, valueOf(value ?? '', names));
  const safe = name.replace(/\W/g, '');
  const declared = new RegExp(`\\b${safe}((?:\\s*\\[[^\\]]+\\])+)`, 'g');
  for (const [, sizes] of source.matchAll(declared)) {
    const dims = [...(sizes ?? '').matchAll(/\[([^\]]+)\]/g)].map(([, s]) => valueOf(s ?? '', names));
    if (dims.length > 1 && dims.reduce((a, b) => a * b, 1) === elements) return dims;
  }
  return [];
}

/** Rows and columns of an array: as the source says, or the two numbers of the launch that
 * multiply to its size and that steps between lanes and executions agree with.
 * @param {Launch} launch @param {Site} site @param {{name: string, bytes: number}} target
 * @param {string} source @returns {{rows: number, cols: number, how: string}} */
export function shapeOf(launch, site, target, source) {
  const elements = Math.floor(target.bytes / site.element);
  const flat = {rows: 1, cols: Math.max(1, elements), how: 'one row'};
  if (isShared(site)) {
    const dims = declaredShape(source, target.name, elements);
    if (dims.length < 2) return flat;
    const cols = /** @type {number} */ (dims.at(-1));
    return {rows: elements / cols, cols, how: `declared as ${target.name}[${dims.join('][')}]`};
  }
  /** @type {Map<number, number>} */
  const votes = new Map();
  for (const other of launch.sites.filter((s) => s.element === site.element)) {
    for (const sample of other.samples) {
      if (launch.arrays[sample.array]?.name !== target.name) continue;
      for (let lane = 1; lane < WARP; ++lane) {
        const a = sample.offsets[lane - 1], b = sample.offsets[lane];
        if (a == null || b == null) continue;
        const step = Math.abs(b - a) / site.element;
        votes.set(step, (votes.get(step) ?? 0) + 1);
      }
    }
  }
  let best = flat, most = -1;
  launch.numbers.forEach((rows, i) => launch.numbers.forEach((cols, j) => {
    if (i === j || rows < 1 || cols < 2 || rows * cols !== elements) return;
    const score = (votes.get(cols) ?? 0) + (i < j ? 0.5 : 0);
    if (score > most) {
      most = score;
      best = {rows, cols, how: `${rows} × ${cols}, from the numbers the kernel was given`};
    }
  }));
  return best;
}

/** Copies of a timeline beside which no kernel runs on the device, with the share of their time in
 * which one does. @param {any[]} items */
export function overlaps(items) {
  return items.filter((i) => i.kind.startsWith('copy')).map((copy) => {
    let beside = 0;
    const spans = items
      .filter((k) => (k.kind === 'kernel' || k.kind === 'library call') && k.device === copy.device)
      .map((k) => [Math.max(k.start, copy.start), Math.min(k.end, copy.end)])
      .filter(([s, e]) => Number(e) > Number(s)).sort((a, b) => Number(a[0]) - Number(b[0]));
    let end = -Infinity;
    for (const [s, e] of spans) {
      beside += Math.max(0, Number(e) - Math.max(Number(s), end));
      end = Math.max(end, Number(e));
    }
    return {copy, share: beside / (copy.end - copy.start)};
  });
}

/** Times of a timeline to places from 0 to 1. Stretches in which nothing runs and no call is made take
 * little room where they would take more than an eighth: what happens before and behind them stays
 * readable. @param {any[]} items
 * @returns {{place: (t: number) => number, gaps: [number, number][], busy: [number, number][]}} */
export function foldedTimes(items) {
  const spans = items.flatMap((i) => [[i.issued, i.issued], [i.start, i.end]]).sort((a, b) => a[0] - b[0]);
  const begin = Math.min(...spans.map(([a]) => Number(a))), end = Math.max(...spans.map(([, b]) => Number(b)));
  const gaps = /** @type {[number, number][]} */ ([]);
  let last = begin;
  for (const [from, to] of spans) {
    if (from - last > (end - begin) / 8) gaps.push([last, from]);
    last = Math.max(last, to);
  }
  const idle = gaps.reduce((a, [from, to]) => a + to - from, 0), kFold = 0.07;
  const scale = (1 - kFold * gaps.length) / Math.max(1e-30, end - begin - idle);
  const place = (/** @type {number} */ t) => gaps.reduce((at, [from, to]) => {
    const inside = Math.max(0, Math.min(t, to) - from);
    return at - inside * scale + kFold * inside / (to - from);
  }, (t - begin) * scale);
  const edges = [begin, ...gaps.flat(), end];
  return {place, gaps, busy: Array.from({length: gaps.length + 1}, (_, i) => [Number(edges[2 * i]), Number(edges[2 * i + 1])])};
}

/** Who stands where in a deadlock: for each line the threads that wait there, and how many of the
 * block it misses. @param {any} scene */
export function waitingAt(scene) {
  /** @type {Map<number, {line: number, does: string, lanes: {warp: number, mask: number}[], threads: number}>} */
  const places = new Map();
  for (const party of scene.parties) {
    const place = places.get(party.line) ?? {line: party.line, does: party.does, lanes: [], threads: 0};
    place.lanes.push({warp: party.warp, mask: party.lanes});
    place.threads += lanesOf(party.lanes).length;
    places.set(party.line, place);
  }
  const all = scene.block[0] * scene.block[1] * scene.block[2];
  return [...places.values()].map((p) => ({...p, missing: all - p.threads}));
}

/** Lanes of the request whose bytes lie outside of the array. @param {any} scene @returns {number[]} */
export function outside(scene) {
  return lanesOf(scene.mask).filter((lane) =>
    scene.asked[lane] < 0 || scene.asked[lane] + scene.bytes > scene.array_bytes);
}

/** The time at which the last step ends. @param {Launch} launch */
export const endOf = (launch) => Math.max(1, ...launch.steps.map((s) => s.start + s.length));

/** Shared memory as it is before time `t`: byte offset -> value.
 * @param {Launch} launch @param {number} t */
export function sharedAt(launch, t) {
  const values = new Map(), fresh = new Set();
  for (const store of launch.stores) {
    if (store.time >= t) continue;
    for (const [offset, value] of store.values) {
      values.set(offset, value);
      if (store.time === t - 1) fresh.add(offset); else fresh.delete(offset);
    }
  }
  return {values, fresh};
}

/** "1,234,567" */
export const count = (/** @type {number} */ n) => Math.round(n).toLocaleString('en-US');
/** "12.3 µs" */
export function seconds(/** @type {number} */ s) {
  for (const [unit, scale] of /** @type {[string, number][]} */ ([['s', 1], ['ms', 1e3], ['µs', 1e6]])) {
    if (s * scale >= 1) return `${(s * scale).toPrecision(3)} ${unit}`;
  }
  return `${(s * 1e9).toPrecision(3)} ns`;
}
/** Three dimensions without the ones at the end: "16 × 16". */
export function dims(/** @type {number[]} */ d) {
  const last = d.findLastIndex((n) => n > 1);
  return d.slice(0, Math.max(1, last + 1)).join(' × ');
}
/** "4.2 T", "12 G": of something per second. */
export function rate(/** @type {number} */ value) {
  for (const [unit, scale] of /** @type {[string, number][]} */ ([['T', 1e12], ['G', 1e9], ['M', 1e6]])) {
    if (value >= scale) return `${Number((value / scale).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(value)} `;
}
/** "38 %" */
export const percent = (/** @type {number} */ share) => `${Number((100 * share).toPrecision(2))} %`;
/** "1.2 MB" */
export function size(/** @type {number} */ bytes) {
  for (const [unit, scale] of /** @type {[string, number][]} */ ([['GB', 1e9], ['MB', 1e6], ['KB', 1e3]])) {
    if (bytes >= scale) return `${Number((bytes / scale).toPrecision(3))} ${unit}`;
  }
  return `${bytes} bytes`;
}
/** "lanes 0–3, 7" */
export function lanesText(/** @type {number[]} */ lanes) {
  const runs = /** @type {number[][]} */ ([]);
  for (const lane of lanes) {
    const run = runs.at(-1);
    if (run && run[1] === lane - 1) run[1] = lane; else runs.push([lane, lane]);
  }
  const text = runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(', ');
  return `${lanes.length === 1 ? 'lane' : 'lanes'} ${text}`;
}
