// View 4: what is wrong, in space and time.
import {card, h, laneColour, picture, s, scroller, word} from './draw.js';
import {count, lanesOf, lanesText, outside, size, variableAt, waitingAt} from './data.js';

/** The end of an array that was missed: its last elements, the border, and who asked for what.
 * @param {any} scene */
function accessPicture(scene) {
  const lanes = lanesOf(scene.mask), bad = new Set(outside(scene));
  const step = Math.max(1, scene.bytes), low = Math.min(...lanes.map((l) => scene.asked[l])), before = low < 0;
  const border = before ? 0 : scene.array_bytes;
  const near = lanes.map((l) => (scene.asked[l] - border) / step).filter((e) => Math.abs(e) < 24);
  const from = Math.floor(Math.max(-12, Math.min(-6, ...near))), to = Math.ceil(Math.min(24, Math.max(6, ...near) + 2));
  const cell = 26, left = 16, top = 44;
  const x = (/** @type {number} */ e) => left + (e - from) * cell;
  const name = scene.array || 'the array';
  const drawn = [];
  for (let e = from; e < to; ++e) {
    const inside = before ? e >= 0 : e < 0;
    const who = lanes.filter((l) => Math.floor((scene.asked[l] - border) / step) === e);
    const colour = who.length ? laneColour(Number(who[0])) : null;
    drawn.push(s('rect', {x: x(e) + 1, y: top, width: cell - 2, height: 26, rx: 3, class: colour ? undefined : inside ? 'soft' : 'still', fill: colour?.fill}));
    if (colour) drawn.push(word(x(e) + cell / 2, top + 17, who.length > 1 ? `${who.length}×` : who[0], {'text-anchor': 'middle', style: `fill:${colour.ink}`}));
    if (who.length && !inside) drawn.push(s('rect', {x: x(e) + 1, y: top, width: cell - 2, height: 26, rx: 3, class: 'badline', 'stroke-width': 2.5}));
    if ((e - from) % 4 === 0) drawn.push(word(x(e) + cell / 2, top + 42, border / step + e, {'text-anchor': 'middle', class: 'dim'}));
  }
  const far = lanes.filter((l) => bad.has(l) && ((scene.asked[l] - border) / step >= to || (scene.asked[l] - border) / step < from));
  return picture(left * 2 + (to - from) * cell, top + 56, `${lanesText([...bad])} outside of ${name}`,
    s('line', {x1: x(0), x2: x(0), y1: 18, y2: top + 34, class: 'badline', 'stroke-width': 2}),
    word(x(0) + (before ? -6 : 6), 26, before ? `${name} begins here` : `${name} ends here`, {class: 'bad', 'text-anchor': before ? 'end' : 'start'}), drawn,
    far.length ? word(left, 14, `${lanesText(far)}: further away than is drawn`, {class: 'dim'}) : null);
}

/** The word in question: an element of the variable that holds it. @param {any} scene @param {any} launch */
function placeOf(scene, launch) {
  const variable = scene.shared && launch ? variableAt(launch, scene.offset) : undefined;
  const name = variable?.name ?? (scene.array || 'memory'), at = scene.offset - (variable?.offset ?? 0);
  return at % 4 === 0 ? `${name}[${at / 4}]` : `${name}, byte ${count(at)}`;
}

/** Two accesses of one word, and the arrow that is not there. @param {any} scene @param {any} launch */
function racePicture(scene, launch) {
  const rows = scene.parties.slice(0, 2);
  const who = (/** @type {any} */ p) => `block ${p.block.join(',')}, thread ${32 * p.warp + (lanesOf(p.lanes)[0] ?? 0)}`;
  return picture(680, 168, 'Two accesses of one word with nothing between them',
    rows.map((/** @type {any} */ p, /** @type {number} */ i) => {
      const y = 40 + i * 74, x = 250 + i * 230;
      return s('g', {}, word(16, y + 5, who(p)), s('line', {x1: 190, x2: 664, y1: y, y2: y, class: 'axis'}),
        s('rect', {x: x - 62, y: y - 17, width: 124, height: 34, rx: 17, class: `hue${i}`, 'fill-opacity': 0.25}),
        s('circle', {cx: x, cy: y, r: 5, class: `hue${i}`}),
        word(x, y - 24, `${p.does}, line ${p.line}`, {'text-anchor': 'middle'}));
    }),
    s('path', {d: 'M258 50 L470 104', class: 'badline', 'stroke-width': 2, 'stroke-dasharray': '5 5'}),
    word(396, 62, 'no arrow: nothing says which is first', {class: 'bad'}),
    word(190, 158, `the same ${scene.bytes} bytes: ${placeOf(scene, launch)}, counted in words of 4`, {class: 'dim'}));
}

/** Who waits where. @param {any} scene */
function waitingPicture(scene) {
  const places = waitingAt(scene), threads = scene.block.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
  const warps = Math.min(32, Math.ceil(threads / 32)), cell = 15, left = 66;
  const place = (/** @type {number} */ warp, /** @type {number} */ lane) => places.findIndex((p) => p.lanes.some((l) => l.warp === warp && (l.mask >>> lane) & 1));
  return h('div', {}, scroller('Threads of the block', picture(left + 32 * cell + 8, warps * (cell + 3) + 8, 'Where each thread of the block waits',
    Array.from({length: warps}, (_, w) => s('g', {}, word(left - 8, w * (cell + 3) + 15, `warp ${w}`, {'text-anchor': 'end', class: 'dim'}),
      Array.from({length: Math.min(32, threads - 32 * w)}, (_u, l) => {
        const at = place(w, l);
        return s('rect', {x: left + l * cell, y: w * (cell + 3) + 4, width: cell - 2, height: cell - 2, rx: 3, class: at < 0 ? 'still' : `hue${at === 0 ? 5 : at - 1}`},
          s('title', {}, `thread ${32 * w + l}: ${at < 0 ? 'has ended' : `${places[at]?.does} at line ${places[at]?.line}`}`));
      }))))),
  h('ul', {class: 'legend'}, places.map((p, i) => h('li', {}, h('span', {class: `key hue${i === 0 ? 5 : i - 1}`}),
    `line ${p.line}: ${count(p.threads)} ${p.threads === 1 ? 'thread' : 'threads'} ${p.does === 'spins' ? 'spinning' : 'waiting'}, ${count(p.missing)} of the block not there`)),
  h('li', {}, h('span', {class: 'key'}), 'has ended, or is not in the picture')));
}

/** @param {any} finding @param {any} launch */
function pictureOf(finding, launch) {
  const scene = finding.scene;
  if (!scene) return null;
  if (finding.check === 'racecheck' && scene.parties.length > 1) return scroller('The two accesses', racePicture(scene, launch));
  if (scene.asked && scene.array_bytes > 0 && scene.parties.length === 1) return scroller('The array and its border', accessPicture(scene));
  if (scene.parties.length > 1) return waitingPicture(scene);
  return null;
}

/** @param {import('./main.js').Page} page */
export function findingsView(page) {
  const findings = page.data.run.findings;
  if (findings.length === 0) return [card('', h('p', {class: 'say'}, 'Nothing was found wrong: no access out of bounds, no value used before it was written, no race, no barrier that somebody misses.'))];
  return findings.map((/** @type {any} */ f) => h('section', {class: `card finding ${f.note ? 'note' : ''}`, 'data-kind': f.kind},
    h('div', {class: 'row'}, h('span', {class: 'tag'}, `${f.check}: ${f.kind}`), f.count > 1 ? h('span', {class: 'dim small'}, `${count(f.count)} times`) : null,
      h('span', {class: 'dim small'}, `./grade explain ${f.kind}`)),
    h('p', {class: 'say'}, f.message),
    f.scene?.asked && f.scene.array_bytes > 0 && f.scene.parties.length === 1 && outside(f.scene).length
      ? h('p', {class: 'small dim'}, `Outside: ${lanesText(outside(f.scene))} of warp ${f.scene.parties[0].warp}, block (${f.scene.parties[0].block.join(', ')}). ${f.scene.array || 'The array'} has ${size(f.scene.array_bytes)}.`) : null,
    pictureOf(f, f.kernel === page.launch.name ? page.launch : undefined),
    ...[[f.file, f.line], [f.other_file, f.other_line]].filter(([file, line]) => line > 0 && page.data.sources[file]).map(([file, line]) =>
      h('pre', {class: 'mono'}, `${line}  ${(page.data.sources[file].split('\n')[line - 1] ?? '').trim()}`))));
}
