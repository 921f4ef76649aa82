// View 2: one load or store of one warp. Global memory as lines of four sectors, shared memory as
// banks and passes, and where in its array all of that lies.
import {card, h, laneColour, picture, s, scroller, stepper, word} from './draw.js';
import {BANKS, SECTOR, WARP, count, isShared, lanesOf, lanesText, passesOf, sectorsOf, shapeOf, size, targetOf, verbOf} from './data.js';

const CELL = 26, ROW = 24, LEFT = 92;

/** A word of memory: coloured by the lane that wants it, grey where it moves for nothing.
 * @param {number} x @param {number} y @param {number[]|undefined} lanes @param {boolean} moved */
function memoryWord(x, y, lanes, moved) {
  const box = {x: x + 1, y: y + 1, width: CELL - 2, height: ROW - 2, rx: 3};
  if (lanes === undefined) return s('rect', {...box, class: moved ? 'unused' : 'still'});
  const first = /** @type {number} */ (lanes[0]);
  const {fill, ink} = laneColour(first);
  return s('g', {}, s('title', {}, lanesText(lanes)), s('rect', {...box, fill}),
    word(x + CELL / 2, y + 16, lanes.length > 1 ? `${lanes.length}×` : first, {'text-anchor': 'middle', style: `fill:${ink}`}));
}

/** Local memory as it is stored: the words of a thread 128 bytes apart, so that a warp that reads the
 * same variable reads one line. @param {any} site @param {any} sample */
const asStored = (site, sample) => (!site.kind.startsWith('local') ? sample : {...sample,
  offsets: sample.offsets.map((/** @type {number|null} */ o, /** @type {number} */ lane) => (o === null ? null : Math.floor(o / 4) * 128 + lane * 4))});

/** @param {any} site @param {any} sample @param {any} target */
function sectorPicture(site, sample, target) {
  const {lines, moved, unique} = sectorsOf(site, sample, target.skew);
  const width = LEFT + WARP * CELL + 8, top = 34, kMost = 32;
  const rows = lines.slice(0, kMost);
  const label = `${moved.size} sectors move, ${unique} of ${moved.size * SECTOR} bytes are wanted`;
  const drawn = rows.map(([line, words], r) => {
    const y = top + r * (ROW + 8);
    const element = Math.floor((line * 128 - target.skew) / site.element);
    return s('g', {}, word(LEFT - 8, y + 16, `${target.name.length > 7 ? '' : target.name}[${element}]`, {'text-anchor': 'end', class: 'mono dim'}),
      Array.from({length: WARP}, (_, w) => memoryWord(LEFT + w * CELL, y, words.get(w), moved.has(line * 4 + Math.floor(w / 8)))),
      Array.from({length: 4}, (_, k) => s('rect', {x: LEFT + k * 8 * CELL, y: y - 1, width: 8 * CELL, height: ROW + 2, rx: 5,
        class: moved.has(line * 4 + k) ? 'frame' : 'grid'})));
  });
  const more = lines.length - rows.length;
  return picture(width, top + rows.length * (ROW + 8) + (more > 0 ? 24 : 6), label,
    Array.from({length: 4}, (_, k) => word(LEFT + (k * 8 + 4) * CELL, 20, `sector ${k}`, {'text-anchor': 'middle', class: 'dim'})),
    drawn, more > 0 ? word(LEFT, top + rows.length * (ROW + 8) + 14, `and ${more} more lines of 128 bytes`, {class: 'dim'}) : null);
}

/** @param {any} passes */
function bankPicture(passes) {
  const width = LEFT + BANKS * CELL + 8, top = 34;
  return picture(width, top + passes.length * (ROW + 4) + 6,
    `${passes.length} passes through the 32 banks`,
    word(LEFT - 8, 20, 'bank', {'text-anchor': 'end', class: 'dim'}),
    Array.from({length: BANKS}, (_, b) => word(LEFT + (b + 0.5) * CELL, 20, b, {'text-anchor': 'middle', class: 'dim'})),
    passes.map((/** @type {Map<number, any>} */ pass, /** @type {number} */ p) => {
      const y = top + p * (ROW + 4);
      return s('g', {}, word(LEFT - 8, y + 16, `pass ${p + 1}`, {'text-anchor': 'end', class: 'dim'}),
        Array.from({length: BANKS}, (_, b) => memoryWord(LEFT + b * CELL, y, pass.get(b)?.lanes, false)));
    }));
}

/** The array as a matrix: a window around what is wanted, or all of it from afar.
 * @param {any} site @param {any} sample @param {any} target @param {{rows: number, cols: number}} shape */
function matrixPicture(site, sample, target, shape) {
  /** @type {Map<string, number[]>} */
  const at = new Map();
  let r0 = Infinity, r1 = -1, c0 = Infinity, c1 = -1;
  for (let lane = 0; lane < WARP; ++lane) {
    if (sample.offsets[lane] === null) continue;
    const first = Math.floor((sample.offsets[lane] - target.begin) / site.element);
    for (let e = first; e < first + site.bytes / site.element; ++e) {
      const row = Math.floor(e / shape.cols), col = e - row * shape.cols;
      const key = `${row},${col}`;
      at.set(key, [...(at.get(key) ?? []), lane]);
      [r0, r1, c0, c1] = [Math.min(r0, row), Math.max(r1, row), Math.min(c0, col), Math.max(c1, col)];
    }
  }
  if (at.size === 0 || shape.rows * shape.cols <= 1) return null;
  const kCols = 40, kRows = 34;
  if (c1 - c0 >= kCols || r1 - r0 >= kRows) return farPicture(at, shape, target);
  const cols = Math.min(shape.cols, Math.max(kCols - 8, c1 - c0 + 5)), rows = Math.min(shape.rows, Math.max(Math.min(shape.rows, 12), r1 - r0 + 3));
  const left = Math.max(Math.min(0, c0), Math.min(c0 - 2, shape.cols - cols)), up = Math.max(Math.min(0, r0), Math.min(r0 - 1, shape.rows - rows));
  const size_ = 20, top = 24, side = 56;
  const cells = [];
  for (let r = up; r < Math.max(up + rows, r1 + 1); ++r) {
    for (let c = left; c < left + cols; ++c) {
      const lanes = at.get(`${r},${c}`);
      const inside = r >= 0 && r < shape.rows && r * shape.cols + c >= 0 && r * shape.cols + c < Math.floor(target.bytes / site.element);
      if (!inside && lanes === undefined) continue;
      const x = side + (c - left) * size_, y = top + (r - up) * size_;
      const colour = lanes ? laneColour(/** @type {number} */ (lanes[0])) : null;
      cells.push(s('rect', {x: x + .5, y: y + .5, width: size_ - 1, height: size_ - 1, rx: 2, class: lanes ? (inside ? '' : 'badline') : 'soft', fill: colour?.fill}));
      if (lanes && colour) cells.push(word(x + size_ / 2, y + 14, lanes[0], {'text-anchor': 'middle', style: `fill:${colour.ink};font-size:10px`}));
    }
  }
  const every = cols > 20 ? 4 : 1, labels = [];
  for (let c = left; c < left + cols; ++c) if ((c - left) % every === 0) labels.push(word(side + (c - left + 0.5) * size_, 16, c, {'text-anchor': 'middle', class: 'dim', style: 'font-size:10px'}));
  for (let r = up; r < Math.max(up + rows, r1 + 1); ++r) labels.push(word(side - 6, top + (r - up) * size_ + 14, r, {'text-anchor': 'end', class: 'dim', style: 'font-size:10px'}));
  return picture(side + cols * size_ + 6, top + (Math.max(up + rows, r1 + 1) - up) * size_ + 6,
    `${target.name} as a matrix, rows ${r0} to ${r1}, columns ${c0} to ${c1} are wanted`, cells, labels);
}

/** Accesses too far apart for single cells: the whole array, each square a piece of it.
 * @param {Map<string, number[]>} at @param {{rows: number, cols: number}} shape @param {any} target */
function farPicture(at, shape, target) {
  const wide = 640, side = 56, top = 22;
  const tall = Math.max(24, Math.min(360, wide * shape.rows / shape.cols));
  const marks = [...at].map(([key, lanes]) => {
    const [r, c] = key.split(',').map(Number);
    const {fill} = laneColour(/** @type {number} */ (lanes[0]));
    return s('rect', {x: side + Number(c) / shape.cols * wide - 1, y: top + Number(r) / shape.rows * tall - 1,
      width: Math.max(4, wide / shape.cols), height: Math.max(4, tall / shape.rows), fill, rx: 1});
  });
  return picture(side + wide + 8, top + tall + 20, `${target.name} from afar: where the lanes read or write`,
    s('rect', {x: side, y: top, width: wide, height: tall, class: 'soft'}), marks,
    word(side, 14, '0', {class: 'dim'}), word(side + wide, 14, shape.cols - 1, {'text-anchor': 'end', class: 'dim'}),
    word(side - 6, top + 10, '0', {'text-anchor': 'end', class: 'dim'}),
    word(side - 6, top + tall, shape.rows - 1, {'text-anchor': 'end', class: 'dim'}));
}

const LANES = () => picture(LEFT + WARP * CELL + 8, 30, 'The colours of the lanes, 0 to 31',
  word(LEFT - 8, 19, 'lane', {'text-anchor': 'end', class: 'dim'}),
  Array.from({length: WARP}, (_, lane) => memoryWord(LEFT + lane * CELL, 2, [lane], true)));

/** One execution in words. @param {any} site @param {any} sample @param {any} target */
function sentence(site, sample, target) {
  const lanes = lanesOf(sample.mask);
  const who = `Warp ${sample.warp} of block ${sample.block}, ${lanes.length === WARP ? 'all 32 lanes' : lanesText(lanes)}:`;
  return [`${who} ${verbOf(site.kind)} `, h('code', {}, target.name), `, ${site.bytes} ${site.bytes === 1 ? 'byte' : 'bytes'} each.`];
}

/** Sectors or passes beyond the least that the lanes need, in all executions, as the kept ones tell.
 * @param {any} launch @param {any} site */
function waste(launch, site) {
  const beyond = site.samples.map((/** @type {any} */ sample) => {
    if (isShared(site)) return sample.transactions - Math.max(1, Math.ceil(lanesOf(sample.mask).length * site.bytes / 128));
    if (site.kind.startsWith('local')) return 0;
    const {moved, unique} = sectorsOf(site, sample, targetOf(launch, site, sample).skew);
    return moved.size - Math.ceil(unique / SECTOR);
  });
  return site.executions * beyond.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / beyond.length;
}

/** The site that wastes most: where to look first. @param {any} launch */
export const worstSite = (launch) => launch.sites.reduce((/** @type {number} */ best, /** @type {any} */ site, /** @type {number} */ i) =>
  (waste(launch, site) > waste(launch, launch.sites[best]) ? i : best), 0);

/** @param {import('./main.js').Page} page @param {number} index of the site, -1: the one that wastes most @param {number} sampleIndex */
export function lensView(page, index, sampleIndex) {
  const {launch} = page;
  if (launch.sites.length === 0) return [card('', h('p', {}, 'This kernel touches no memory that is watched.'))];
  const chosen = index < 0 ? worstSite(launch) : Math.min(index, launch.sites.length - 1);
  const site = /** @type {any} */ (launch.sites[chosen]);
  const body = h('div', {});
  const select = h('select', {'aria-label': 'Load or store', onchange: (/** @type {any} */ e) => page.open('lens', Number(e.target.value))},
    launch.sites.map((other, i) => h('option', {value: i, selected: i === chosen}, page.siteName(other))));
  let cols = 0;
  const show = (/** @type {number} */ i) => {
    const sample = site.samples[i], target = targetOf(launch, site, sample);
    const guessed = shapeOf(launch, site, target, page.data.sources[site.file] ?? '');
    const elements = Math.floor(target.bytes / site.element);
    const shape = cols > 0 ? {rows: Math.ceil(elements / cols), cols, how: 'as you said'} : guessed;
    const width = h('input', {type: 'number', min: 1, max: elements, value: shape.cols, 'aria-label': 'elements in a row',
      onchange: (/** @type {any} */ e) => { cols = Number(e.target.value); show(i); }});
    page.remember('lens', chosen, i);
    body.replaceChildren(...[
      h('p', {class: 'say', id: 'say'}, sentence(site, sample, target)),
      isShared(site) ? sharedTiles(site, sample) : globalTiles(site, sample, target),
      scroller('Lanes', LANES()),
      scroller('Memory', isShared(site) ? bankPicture(passesOf(site, sample)) : sectorPicture(site, asStored(site, sample), target)),
      legend(site),
      h('p', {class: 'dim small'}, `Execution ${count(sample.number + 1)} of ${count(site.executions)}; ${site.samples.length === site.executions ? 'all are kept' : `${site.samples.length} are kept: the first, the widest, some of the rest`}.`),
      target.bytes > 0 && elements > 1 ? h('div', {}, h('h3', {}, 'Where in ', h('code', {}, target.name)),
        h('p', {class: 'row small dim'}, `${count(elements)} elements of ${site.element} bytes, drawn in rows of`, width, shape.how),
        scroller('The array', matrixPicture(site, sample, target, shape) ?? '')) : null].filter(Boolean));
  };
  const worst = site.samples.reduce((/** @type {number} */ best, /** @type {any} */ x, /** @type {number} */ i) =>
    (x.transactions > site.samples[best].transactions ? i : best), 0);
  const first = sampleIndex < 0 ? worst : Math.min(sampleIndex, site.samples.length - 1);
  const row = h('div', {class: 'row'}, select, stepper('Execution', site.samples.length, first, show));
  show(first);
  const source = (page.data.sources[site.file] ?? '').split('\n')[site.line - 1]?.trim();
  return [card('', row, source ? h('pre', {class: 'mono'}, `${site.line}  ${source}`) : null, body)];
}

const tile = (/** @type {any} */ value, /** @type {string} */ name, /** @type {string} */ mood = '') =>
  h('div', {class: `tile ${mood}`}, h('b', {}, value), h('span', {}, name));

/** @param {any} site @param {any} sample @param {any} target */
function globalTiles(site, sample, target) {
  const {moved, unique} = sectorsOf(site, sample, target.skew);
  const local = site.kind.startsWith('local');
  const share = unique / (moved.size * SECTOR);
  return h('div', {class: 'tiles'}, tile(sample.transactions, site.kind.endsWith('atomic') ? 'steps of lanes that share an address' : sample.transactions === 1 ? 'sector moves' : 'sectors move'),
    local ? null : tile(size(unique), 'wanted'), local ? null : tile(size(moved.size * SECTOR), 'moved'),
    local ? null : tile(`${Math.round(100 * share)} %`, 'of what moves is wanted', share < 0.5 ? 'bad' : 'good'));
}

/** @param {any} site @param {any} sample */
function sharedTiles(site, sample) {
  const passes = passesOf(site, sample);
  const least = Math.max(1, Math.ceil(lanesOf(sample.mask).length * site.bytes / 128));
  /** @type {Map<number, number>} */
  const words = new Map();
  for (const pass of passes) for (const bank of pass.keys()) words.set(bank, (words.get(bank) ?? 0) + 1);
  const [bank, most] = [...words].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
  return h('div', {class: 'tiles'}, tile(sample.transactions, sample.transactions === 1 ? 'pass (wavefront)' : 'passes (wavefronts)', sample.transactions > least ? 'bad' : 'good'),
    tile(words.size, 'of 32 banks are asked'), most > least ? tile(`bank ${bank}`, `is asked for ${most} different words`, 'bad') : null);
}

/** @param {any} site */
const legend = (site) => h('ul', {class: 'legend'},
  h('li', {}, h('span', {class: 'key', style: 'background:linear-gradient(90deg,#00224e,#7c7b78,#fee838)'}), 'wanted, with the number of its lane (3× : by three lanes)'),
  isShared(site) ? null : h('li', {}, h('span', {class: 'key unused'}), 'moves, and nobody wants it'));
