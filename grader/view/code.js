// View 1: the learner's lines, and beside each what it did.
import {bar, card, h, scroller} from './draw.js';
import {count, dims} from './data.js';

/** What is shown beside a line: its name, how it reads, the sum of a line's counters. */
const MEASURES = [
  {key: 'stalled', name: 'waiting', about: 'share of the waiting of warps that ends here, modelled',
    of: (/** @type {any} */ l) => l.stalled, text: (/** @type {number} */ v) => `${(100 * v).toFixed(v < 0.1 ? 1 : 0)} %`},
  {key: 'warp_instructions', name: 'instructions', about: 'issued, one per warp',
    of: (/** @type {any} */ l) => l.counters.warp_instructions ?? 0, text: count},
  {key: 'lanes', name: 'lanes', about: 'active lanes of 32, on average', most: 32,
    of: (/** @type {any} */ l) => (l.counters.thread_instructions ?? 0) / (l.counters.warp_instructions ?? 1),
    text: (/** @type {number} */ v) => v.toFixed(v % 1 ? 1 : 0), low: true},
  {key: 'sectors', name: 'sectors', about: '32-byte sectors of global and local memory',
    of: (/** @type {any} */ l) => sum(l, ['global_load_sectors', 'global_store_sectors', 'local_load_sectors', 'local_store_sectors']), text: count},
  {key: 'wavefronts', name: 'wavefronts', about: 'passes through the banks of shared memory',
    of: (/** @type {any} */ l) => sum(l, ['shared_load_wavefronts', 'shared_store_wavefronts']), text: count},
  {key: 'tensor', name: 'tensor operations', about: 'of the tensor cores: multiply and add 1 each',
    of: (/** @type {any} */ l) => l.counters.tensor_operations ?? 0, text: count},
];
const sum = (/** @type {any} */ line, /** @type {string[]} */ keys) =>
  keys.reduce((total, key) => total + (line.counters[key] ?? 0), 0);

const KEYWORDS = new Set(('if else for while do return const constexpr int float double unsigned char bool void auto size_t '
  + '__global__ __device__ __shared__ __constant__ __host__ __restrict__ extern static template typename struct').split(' '));

/** The line in spans of its kinds of words. @param {string} text */
function coloured(text) {
  const parts = text.match(/\/\/.*|"[^"]*"|^\s*#.*|\b\d[\w.']*|\w+|\s+|[^\w\s]/g) ?? [];
  return parts.map((p) => {
    const kind = p.startsWith('//') ? 'com' : /^\s*#/.test(p) ? 'pre' : /^\d/.test(p) ? 'num' : KEYWORDS.has(p) ? 'kw' : '';
    return kind === '' ? p : h('span', {class: kind}, p);
  });
}

/** Lines of a reference that say what its starter has instead. @param {string} text */
const isOfStarter = (text) => /^\s*(\/\/|#)~/.test(text);

/** Lines worth showing: those that are counted, with three around them. @param {string[]} text
 * @param {Set<number>} counted @returns {number[]} 0: a gap */
function shownLines(text, counted) {
  const near = new Set([...counted].flatMap((n) => [-3, -2, -1, 0, 1, 2, 3].map((d) => n + d)));
  const last = Math.max(text.length, ...counted), own = [...Array(last).keys()].map((i) => i + 1).filter((n) => !isOfStarter(text[n - 1] ?? ''));
  return own.flatMap((n, i) => (near.has(n) ? (i > 0 && !near.has(Number(own[i - 1])) ? [0, n] : [n]) : [])).filter((n, i) => n > 0 || i > 0);
}

/** @param {import('./main.js').Page} page */
export function codeView(page) {
  const {kernel, launch} = page;
  /** @type {Map<string, any[]>} */
  const files = new Map();
  for (const line of kernel.lines) files.set(line.file, [...(files.get(line.file) ?? []), line]);
  const most = new Map(MEASURES.map((m) => [m.key, m.most ?? Math.max(1e-9, ...kernel.lines.map(m.of))]));
  const used = MEASURES.filter((m) => kernel.lines.some((/** @type {any} */ l) => m.of(l) > 0));
  const detail = h('div', {'aria-live': 'polite'});
  let measure = used[0]?.key ?? 'warp_instructions';
  const tables = [...files].map(([file, lines]) => {
    const text = (page.data.sources[file] ?? '').split('\n');
    const byLine = new Map(lines.map((l) => [l.line, l]));
    const rows = shownLines(text, new Set(byLine.keys())).map((n) => {
      if (n === 0) return h('tr', {class: 'gap'}, h('td', {colspan: 2 + used.length}, '···'));
      const line = byLine.get(n);
      const found = page.findingsAt(file, n).length > 0;
      const choose = () => chooseLine(page, detail, file, n, table);
      return h('tr', {class: `${line ? 'counted' : ''} ${found ? 'found' : ''}`, 'data-line': n, onclick: line ? choose : undefined},
        h('td', {class: 'no'}, line ? h('button', {type: 'button', 'aria-label': `line ${n}: what it did`}, n) : n),
        h('td', {class: 'src', title: (text[n - 1] ?? '').length > 70 ? text[n - 1] : undefined}, coloured(text[n - 1] ?? '')),
        used.map((m) => {
          const value = line ? m.of(line) : 0;
          const worth = line && (value > 0 || m.key === 'warp_instructions');
          const warn = m.low ? value < 16 : m.key === 'wavefronts' && line && (line.counters.shared_bank_conflicts ?? 0) > 0;
          return h('td', {class: `bars ${m.key === measure ? 'shown' : ''}`, 'data-measure': m.key, 'data-value': worth ? value : undefined},
            worth ? bar(value / Number(most.get(m.key)), m.text(value), warn ? 'warn' : '') : null);
        }));
    });
    const table = h('table', {}, h('thead', {}, h('tr', {}, h('th', {class: 'n'}, ''), h('th', {}, file.split('/').pop()),
      used.map((m) => h('th', {class: `bars ${m.key === measure ? 'shown' : ''}`, 'data-measure': m.key, title: m.about}, m.name)))),
    h('tbody', {}, rows));
    return table;
  });
  const choice = h('div', {class: 'measure row'}, used.map((m) => h('button', {type: 'button', 'aria-pressed': String(m.key === measure),
    onclick: (/** @type {Event} */ e) => {
      measure = m.key;
      for (const b of choice.children) b.setAttribute('aria-pressed', String(b === e.currentTarget));
      for (const t of tables) for (const c of t.querySelectorAll('.bars')) c.classList.toggle('shown', c.getAttribute('data-measure') === m.key);
    }}, m.name)));
  const t = kernel.totals, c = kernel.cost;
  const useful = (/** @type {string} */ d) => (t[`global_${d}_sectors`] ? (t[`global_${d}_unique_bytes`] ?? 0) / (32 * t[`global_${d}_sectors`]) : 1);
  const tile = (/** @type {string} */ value, /** @type {string} */ name, /** @type {string} */ mood = '') =>
    h('div', {class: `tile ${mood}`}, h('b', {}, value), h('span', {}, name));
  return [
    card('', h('div', {class: 'tiles'},
      tile(dims(kernel.launch.grid), 'blocks'), tile(dims(kernel.launch.block), 'threads each'),
      tile(count(t.warp_instructions ?? 0), 'warp instructions'),
      tile(`${((t.thread_instructions ?? 0) / (t.warp_instructions ?? 1)).toFixed(1)} of 32`, 'lanes active'),
      t.global_load_sectors ? tile(`${(100 * useful('load')).toFixed(0)} %`, 'of loaded bytes useful', useful('load') < 0.5 ? 'bad' : 'good') : null,
      t.global_store_sectors ? tile(`${(100 * useful('store')).toFixed(0)} %`, 'of stored bytes useful', useful('store') < 0.5 ? 'bad' : 'good') : null,
      (t.shared_load_requests ?? 0) + (t.shared_store_requests ?? 0) > 0
        ? tile(count(t.shared_bank_conflicts ?? 0), 'wavefronts lost to bank conflicts', t.shared_bank_conflicts ? 'bad' : 'good') : null,
      tile(page.seconds(c.seconds), page.data.run.label)),
    h('p', {class: 'dim small'}, `The largest of ${count(kernel.launches)} ${kernel.launches === 1 ? 'launch' : 'launches'}; held up by ${c.limiter_words}. Choose a line to see what it did; the memory it touches is in view 2.`)),
    h('section', {class: 'card code'}, choice, scroller('The source with its counters', tables)),
    detail,
  ];
}

/** @param {import('./main.js').Page} page @param {HTMLElement} detail @param {string} file
 * @param {number} number @param {HTMLElement} table */
function chooseLine(page, detail, file, number, table) {
  for (const row of table.querySelectorAll('tr')) row.classList.toggle('chosen', row.getAttribute('data-line') === String(number));
  const line = page.kernel.lines.find((/** @type {any} */ l) => l.line === number && l.file === file);
  const sites = page.launch.sites.map((s, i) => ({s, i})).filter(({s}) => s.line === number && s.file === file);
  const code = page.launch.code.filter((c) => c.line === number);
  detail.replaceChildren(card(`Line ${number}`,
    page.findingsAt(file, number).map((f) => h('p', {class: 'worse'}, f.message)),
    sites.length === 0 ? null : h('div', {class: 'row'}, 'See it:', sites.slice(0, 12).map(({s, i}) =>
      h('button', {type: 'button', onclick: () => page.open('lens', i)}, page.siteName(s)))),
    h('table', {class: 'small'}, h('tbody', {}, Object.entries(line.counters).map(([k, v]) =>
      h('tr', {}, h('td', {}, k.replaceAll('_', ' ')), h('td', {class: 'n', 'data-counter': k}, count(Number(v))))))),
    code.length === 0 ? null : h('details', {}, h('summary', {}, `PTX of this line, ${code.length} instructions`),
      h('pre', {}, code.map((c) => `${count(c.issued).padStart(10)}  ${c.ptx}`).join('\n')))));
  detail.scrollIntoView({block: 'nearest'});
}
