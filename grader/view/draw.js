// Making elements, and the colours that carry meaning.

const SVG = 'http://www.w3.org/2000/svg';

/** @param {Element} element @param {Record<string, any>} attributes @param {any[]} children */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** An HTML element. @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children */
export const h = (tag, attributes = {}, ...children) =>
  /** @type {HTMLElement} */ (fill(document.createElement(tag), attributes, children));

/** An SVG element. @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children */
export const s = (tag, attributes = {}, ...children) =>
  /** @type {SVGElement} */ (fill(document.createElementNS(SVG, tag), attributes, children));

/** A picture with words for those who do not see it. @param {number} width @param {number} height
 * @param {string} label @param {...any} children */
export const picture = (width, height, label, ...children) =>
  s('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label,
    class: 'picture'}, ...children);

/** The same, as wide as there is room. @param {number} width @param {number} height
 * @param {string} label @param {...any} children */
export const widePicture = (width, height, label, ...children) =>
  s('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'picture wide'}, ...children);

/** A word in a picture. @param {number} x @param {number} y @param {any} text @param {Record<string, any>} [more] */
export const word = (x, y, text, more = {}) => s('text', {x, y, ...more}, String(text));

// Cividis, read at five places: light to dark for everybody, whatever colours they see.
const SCALE = [[0, 34, 78], [65, 77, 107], [124, 123, 120], [188, 175, 111], [254, 232, 56]];

/** The colour of a lane, and one to write on it. @param {number} lane */
export function laneColour(lane) {
  const at = (lane / 31) * (SCALE.length - 1), i = Math.min(SCALE.length - 2, Math.floor(at));
  const a = /** @type {number[]} */ (SCALE[i]), b = /** @type {number[]} */ (SCALE[i + 1]);
  const rgb = a.map((v, c) => Math.round(v + (Number(b[c]) - v) * (at - i)));
  const linear = rgb.map((v) => (v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  const bright = 0.2126 * Number(linear[0]) + 0.7152 * Number(linear[1]) + 0.0722 * Number(linear[2]);
  return {fill: `rgb(${rgb.join(',')})`, ink: bright > 0.179 ? '#000000' : '#ffffff'};
}

/** A class of its own for each of the first eight things, then again from the start. */
export const hue = (/** @type {number} */ index) => `hue${index % 8}`;

/** A horizontal bar in a table. @param {number} share @param {string} text @param {string} [kind] */
export const bar = (share, text, kind = '') =>
  h('span', {class: 'bar'}, h('span', {class: `fill ${kind}`, style: `width:${Math.min(100, 100 * share).toFixed(1)}%`}),
    h('span', {class: 'figure'}, text));

/** Buttons and a slider that go through `length` things; `show(i)` is called for each choice.
 * @param {string} label @param {number} length @param {number} start @param {(i: number) => void} show */
export function stepper(label, length, start, show) {
  const range = /** @type {HTMLInputElement} */ (h('input', {type: 'range', min: 0, max: length - 1,
    value: start, step: 1, 'aria-label': label, class: 'steps'}));
  const go = (/** @type {number} */ i) => {
    range.value = String(Math.max(0, Math.min(length - 1, i)));
    show(Number(range.value));
  };
  range.addEventListener('input', () => show(Number(range.value)));
  return h('div', {class: 'stepper'},
    h('button', {type: 'button', 'aria-label': `${label}: one back`, onclick: () => go(Number(range.value) - 1)}, '‹'),
    range,
    h('button', {type: 'button', 'aria-label': `${label}: one on`, onclick: () => go(Number(range.value) + 1)}, '›'));
}

/** A box with a title. @param {string} title @param {...any} children */
export const card = (title, ...children) =>
  h('section', {class: 'card'}, title === '' ? null : h('h3', {}, title), ...children);

/** What scrolls sideways where there is little room; focusable, so that keys reach it. */
export const scroller = (/** @type {string} */ label, /** @type {...any} */ ...children) =>
  h('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label}, ...children);
