// The page: which kernel, which view, keys 1 to 7 and arrows; the address keeps the place.
import {h} from './draw.js';
import {isShared, launchOf, passesOf, sectorsOf, seconds, targetOf, verbOf} from './data.js';
import {codeView} from './code.js';
import {lensView} from './lens.js';
import {blockView} from './block.js';
import {findingsView} from './findings.js';
import {timeView} from './time.js';
import {rooflineView} from './roofline.js';
import {compareView} from './compare.js';

/**
 * @typedef {{data: any, kernel: any, launch: import('./data.js').Launch, wrong: import('./data.js').Launch[],
 *   seconds: (s: number) => string, siteName: (site: import('./data.js').Site) => string,
 *   findingsAt: (file: string, line: number) => any[], open: (view: string, site?: number) => void,
 *   remember: (view: string, site: number, sample: number) => void,
 *   others: () => {name: string, passed: boolean, kernel: any}[]}} Page
 */

const data = JSON.parse(/** @type {string} */ (document.getElementById('data')?.textContent));
/** Those of the exercise's own file first, and the largest of them. */
const kernels = data.run.profile.kernels.toSorted((/** @type {any} */ a, /** @type {any} */ b) =>
  Number(isOwn(b)) - Number(isOwn(a)) || b.totals.warp_instructions - a.totals.warp_instructions);
const VIEWS = [['code', 'Code'], ['lens', 'Memory'], ['block', 'Block'], ['findings', 'Findings'], ['time', 'Time'], ['roofline', 'Roofline'], ['compare', 'Compare']];
const state = {view: 'code', kernel: 0, site: -1, sample: -1};
function isOwn(/** @type {any} */ kernel) {
  return data.file !== '' && kernel.lines.some((/** @type {any} */ l) => l.file.endsWith(data.file));
}
const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The kernel of that name in another run; under another name, the one that does most there.
 * @param {any} run @param {any} kernel */
const like = (run, kernel) => run?.kernels.find((/** @type {any} */ k) => k.name === kernel.name)
  ?? run?.kernels.reduce((/** @type {any} */ a, /** @type {any} */ b) => (!a || b.totals.warp_instructions > a.totals.warp_instructions ? b : a), undefined);

/** @returns {Page} */
function pageOf() {
  const kernel = kernels[state.kernel];
  const launch = launchOf(kernel.name, kernel.view, false);
  return {
    data, kernel, launch, seconds,
    wrong: data.run.wrong.filter((/** @type {any} */ w) => w.name === kernel.name).map((/** @type {any} */ w) => launchOf(w.name, w.view, true)),
    siteName: (site) => {
      const sample = /** @type {any} */ (site.samples[0]);
      const most = Math.max(...site.samples.map((x) => x.transactions));
      const unit = isShared(site) ? (most === 1 ? 'pass' : 'passes') : most === 1 ? 'sector' : 'sectors';
      return `line ${site.line}: ${verbOf(site.kind)} ${targetOf(launch, site, sample).name}, ${most} ${unit}`;
    },
    findingsAt: (file, line) => data.run.findings.filter((/** @type {any} */ f) => !f.note && ((f.file === file && f.line === line) || (f.other_file === file && f.other_line === line))),
    open: (view, site = -1) => go({view, site, sample: -1}),
    remember: (view, site, sample) => {
      Object.assign(state, {view, site, sample});
      history.replaceState(null, '', address());
    },
    others: () => [{name: 'reference', passed: true, run: data.reference}, ...(data.history?.runs ?? [])]
      .map((other) => ({name: other.name, passed: other.passed, kernel: like(other.run, kernel)})).filter((other) => other.kernel),
  };
}

const address = () => `#${state.view}/${state.kernel}/${state.site}/${state.sample}`;

function readAddress() {
  const [view, kernel, site, sample] = location.hash.slice(1).split('/');
  if (!VIEWS.some(([id]) => id === view)) return;
  Object.assign(state, {view, kernel: Math.min(kernels.length - 1, Math.max(0, Number(kernel) || 0)), site: site === undefined || site === '' ? -1 : Number(site), sample: sample === undefined ? -1 : Number(sample)});
}

/** @param {Partial<typeof state>} change */
function go(change) {
  Object.assign(state, change);
  history.replaceState(null, '', address());
  show();
}

function show() {
  const wrong = data.run.findings.filter((/** @type {any} */ f) => !f.note).length;
  element('tabs').replaceChildren(...VIEWS.map(([id, name], i) => h('button', {
    type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': 'view', 'aria-selected': String(id === state.view), tabindex: id === state.view ? 0 : -1,
    onclick: () => go({view: String(id), site: -1, sample: -1})}, String(name), id === 'findings' && wrong ? h('span', {class: 'badge'}, wrong) : null, h('kbd', {'aria-hidden': 'true'}, i + 1))));
  const page = pageOf();
  const views = {code: () => codeView(page), lens: () => lensView(page, state.site, state.sample), block: () => blockView(page), findings: () => findingsView(page),
    time: () => timeView(page), roofline: () => rooflineView(page), compare: () => compareView(page)};
  element('view').replaceChildren(...views[/** @type {keyof typeof views} */ (state.view)]());
  element('view').setAttribute('aria-labelledby', `tab-${state.view}`);
}

/** @param {KeyboardEvent} event */
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  const writes = target.matches('input[type=number], select');
  if (!writes && /^[1-7]$/.test(event.key)) {
    go({view: String(VIEWS[Number(event.key) - 1]?.[0]), site: -1, sample: -1});
    element(`tab-${state.view}`).focus();
    return;
  }
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (step === undefined || writes || target.matches('input, .scroll')) return;
  if (target.matches('[role=tab]')) {
    const next = (VIEWS.findIndex(([id]) => id === state.view) + step + VIEWS.length) % VIEWS.length;
    go({view: String(VIEWS[next]?.[0]), site: -1, sample: -1});
    element(`tab-${state.view}`).focus();
  } else {
    /** @type {HTMLElement|null} */ (document.querySelector(`.stepper button:${step < 0 ? 'first' : 'last'}-child`))?.click();
  }
  event.preventDefault();
}

/** Served by `grade view --serve`: asks now and then whether there is a newer page. */
function watchServer() {
  if (!location.protocol.startsWith('http')) return;
  let seen = '';
  setInterval(async () => {
    const answer = await fetch('/version').then((r) => (r.ok ? r.text() : seen)).catch(() => seen);
    if (seen !== '' && answer !== seen) location.reload();
    seen = answer;
  }, 1000);
}

/** For the tests: requests whose passes or sectors come out other than the simulator counted them. */
Object.assign(window, {checkPasses: () => kernels.flatMap((/** @type {any} */ k) => {
  const launch = launchOf(k.name, k.view, false);
  return launch.sites.flatMap((site) => site.samples.filter((sample) => {
    if (isShared(site) && !site.kind.endsWith('atomic')) return passesOf(site, sample).length !== sample.transactions;
    if (!/global (load|store)/.test(site.kind)) return false;
    return sectorsOf(site, sample, targetOf(launch, site, sample).skew).moved.size !== sample.transactions;
  }).map((sample) => `${k.name} line ${site.line}: ${site.kind} execution ${sample.number}`));
})});

readAddress();
element('title').textContent = data.title;
element('about').textContent = data.about;
element('foot').textContent = `Counted in the simulator; times are ${data.run.label}. Keys: 1 to 7 choose a view, ← and → go through executions and steps.`;
const select = /** @type {HTMLSelectElement} */ (element('kernel'));
select.append(...kernels.map((/** @type {any} */ k, /** @type {number} */ i) => h('option', {value: i}, k.name)));
select.value = String(state.kernel);
select.addEventListener('change', () => go({kernel: Number(select.value), site: -1, sample: -1}));
document.addEventListener('keydown', key);
addEventListener('hashchange', () => { readAddress(); select.value = String(state.kernel); show(); });
show();
watchServer();
