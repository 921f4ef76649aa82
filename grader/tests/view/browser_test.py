"""The page of `grade view` in Chromium: every view of one exercise per chapter, wide and narrow,
light and dark; its figures, keys, clicks, contrast and labels. Skipped where there is no browser.

GRADE_SCREENSHOTS=FOLDER keeps a picture of every view. Where axe-core is there (GRADE_AXE names its
axe.min.js, or `pip install axe-playwright-python`), it looks at every view as well."""
import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None


def find_axe():
    """The accessibility checker's script, of a package of this Python; None where there is none."""
    if "GRADE_AXE" in os.environ:
        return pathlib.Path(os.environ["GRADE_AXE"])
    found = importlib.util.find_spec("axe_playwright_python")
    script = found and found.origin and pathlib.Path(found.origin).with_name("axe.min.js")
    return script if script and script.exists() else None


AXE = find_axe()
if webdriver is None:
    # Debian's package is the system's Python's, which need not be the first one in PATH.
    SYSTEM = "/usr/bin/python3"
    if os.path.exists(SYSTEM) and "GRADE_SYSTEM_PYTHON" not in os.environ:
        os.environ["GRADE_SYSTEM_PYTHON"] = "1"
        if AXE:
            os.environ["GRADE_AXE"] = str(AXE)
        os.execv(SYSTEM, [SYSTEM, *sys.argv])

import graded

VIEWS = ["code", "lens", "block", "findings", "time", "roofline", "compare"]

# Contrast of every text with what lies behind it, and controls without a name.
CHECK = """
const parse = (c) => {
  const m = c.match(/[\\d.]+/g).map(Number);
  const scale = c.startsWith('color(srgb') ? 255 : 1;
  return [m[0] * scale, m[1] * scale, m[2] * scale, m[3] === undefined ? 1 : m[3]];
};
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
const luminance = (c) => {
  const l = c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const behind = (e) => {
  const layers = [];
  for (let at = e; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
};
const problems = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('script, style') || e.getClientRects().length === 0) continue;
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== '');
  if (!own) continue;
  const style = getComputedStyle(e);
  let least = 4.5, grounds = [behind(e)], ink = parse(style.color);
  if (e.closest('svg')) {
    if (e.tagName !== 'text') continue;
    ink = parse(style.fill);
    const before = e.previousElementSibling;
    if (before && before.tagName === 'rect' && e.getAttribute('style')) grounds = [parse(getComputedStyle(before).fill)];
  }
  if (e.classList.contains('figure')) grounds.push(over(parse(getComputedStyle(e.previousElementSibling).backgroundColor), grounds[0]));
  if (parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 600)) least = 3;
  for (const ground of grounds) {
    const found = ratio(over(ink, ground), ground);
    if (found < least) problems.push(`${e.tagName} "${e.textContent.slice(0, 30)}": contrast ${found.toFixed(2)}`);
  }
}
for (const e of document.querySelectorAll('button, select, input, [role=tab], svg[role=img], [tabindex]')) {
  const labelled = e.getAttribute('aria-labelledby') && document.getElementById(e.getAttribute('aria-labelledby'));
  const name = e.getAttribute('aria-label') || e.textContent.trim() || labelled || (e.labels && e.labels.length);
  if (!name && e.id !== 'view') problems.push(`${e.tagName} ${e.className} has no name`);
}
const ids = [...document.querySelectorAll('[id]')].map((e) => e.id).filter((id) => !['waits', 'forever'].includes(id));
for (const id of ids) if (ids.filter((other) => other === id).length > 1) problems.push(`the id ${id} is there twice`);
return [...new Set(problems)];
"""

# Words of a picture that lie over each other.
OVERLAPS = """
const problems = [];
for (const picture of document.querySelectorAll('svg.picture')) {
  const words = [...picture.querySelectorAll('text')].filter((t) => t.textContent.trim() !== '')
    .map((t) => ({text: t.textContent, box: t.getBoundingClientRect()})).sort((a, b) => a.box.left - b.box.left);
  for (let i = 0; i < words.length; ++i) {
    for (let j = i + 1; j < words.length && words[j].box.left < words[i].box.right - 1; ++j) {
      const high = Math.min(words[i].box.bottom, words[j].box.bottom) - Math.max(words[i].box.top, words[j].box.top);
      if (high > 0.5 * Math.min(words[i].box.height, words[j].box.height)) problems.push(`"${words[i].text}" and "${words[j].text}"`);
    }
  }
}
return problems.slice(0, 5);
"""


def browser():
    options = Options()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
                     "--disable-background-networking", "--no-first-run"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = browser()
        cls.pages = {e: graded.page(e, "--solution") for e in graded.EXERCISES}
        cls.questions = {q: graded.question(q)
                         for q in ["outside", "bank", "barrier", "race", "copies"]}

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def show(self, path, place, width=1280, dark=False):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.light(not dark)
        self.driver.get("about:blank")
        self.driver.get(f"{path.as_uri()}#{place}")

    def light(self, light):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "light" if light else "dark"}]})

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def assert_quiet(self, where):
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual(said, [], where)
        asked = [e["message"] for e in self.driver.get_log("performance")
                 if '"Network.requestWillBeSent"' in e["message"]]
        outside = [m for m in asked if '"url":"http' in m or '"url":"ws' in m]
        self.assertEqual(outside, [], where)

    def keep(self, name):
        folder = os.environ.get("GRADE_SCREENSHOTS")
        if not folder:
            return
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        tall = self.driver.execute_script("return document.documentElement.scrollHeight")
        width = self.driver.execute_script("return innerWidth")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": min(3000, tall), "deviceScaleFactor": 1, "mobile": False})
        self.driver.save_screenshot(f"{folder}/{name}.png")

    def check_view(self, path, view, name):
        """One view, wide and narrow, light and dark."""
        for width in (1280, 360):
            self.show(path, view, width)
            for dark in (False, True):
                where = f"{name} {view} {width} {'dark' if dark else 'light'}"
                with self.subTest(where):
                    self.light(not dark)
                    self.assertTrue(self.find("#view .card"), where)
                    wide = self.driver.execute_script("return document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, where)
                    self.assertEqual(self.driver.execute_script(CHECK), [], where)
                    self.assertEqual(self.driver.execute_script(OVERLAPS), [], where)
                    if dark == (width == 360):
                        self.assertEqual(self.axe(), [], where)
                        self.keep(f"{name.replace('/', '_')}_{view}_{width}")
                    self.assert_quiet(where)

    def axe(self):
        """What axe-core has to say; nothing where it is not there."""
        if AXE is None:
            return []
        self.driver.execute_script(AXE.read_text(encoding="utf-8"))
        return self.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.flatMap("
            "(v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 120)}`))));")

    def test_every_view_of_every_exercise(self):
        for exercise, path in self.pages.items():
            for view in VIEWS:
                self.check_view(path, view, exercise)

    def test_every_view_of_every_defect(self):
        for which, path in self.questions.items():
            for view in VIEWS:
                self.check_view(path, view, f"question_{which}")

    def test_versions_stand_beside_each_other(self):
        course = graded.Course()
        self.addCleanup(course.close)
        course.save(*graded.SLOWER)
        graded.page(course.ID, root=course.root)
        course.save("a[i] + b[i]", "a[i] - b[i]")
        graded.page(course.ID, root=course.root)
        course.save("c[i] = a[i] + b[i];", "const float sum = a[i] + b[i];\n    c[i] = sum;")
        course.passed()
        path = graded.page(course.ID, root=course.root)
        data = graded.data_of(path)
        for view in ["roofline", "compare"]:
            self.check_view(path, view, "versions")
        self.show(path, "compare")
        totals = {"reference": data["reference"]["kernels"][0]["totals"],
                  **{r["name"]: r["run"]["kernels"][0]["totals"] for r in data["history"]["runs"]}}
        mine = data["run"]["profile"]["kernels"][0]["totals"]
        for number, name in enumerate(["reference", "run 1", "run 2"]):
            self.driver.execute_script(
                "const s = document.querySelector('#other'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('change'));", str(number))
            rows = {r.get_attribute("data-key"): [c.text for c in r.find_elements(By.TAG_NAME, "td")]
                    for r in self.find("#view tr[data-key]")}
            for key, other in totals[name].items():
                if other > 0 or mine.get(key, 0) > 0:
                    self.assertEqual(rows[key][1:3], [f"{mine.get(key, 0):,}", f"{other:,}"], key)
            different = [k for k in rows if mine.get(k, 0) != totals[name].get(k, 0)]
            framed = [r.get_attribute("data-key") for r in self.find("#view tr.first")]
            self.assertEqual(framed, different[:1])
        self.assertIn("which did not pass", self.find("#say")[0].text)
        self.show(path, "roofline")
        ladder = [[c.text for c in r.find_elements(By.TAG_NAME, "td")]
                  for r in self.find("#ladder tbody tr")]
        self.assertEqual([row[0] for row in ladder], ["run 1, passed", "run 2", "now", "reference"])
        self.assertEqual([row[2] for row in ladder],
                         [f"{t['warp_instructions']:,}" for t in
                          [totals["run 1"], totals["run 2"], mine, totals["reference"]]])
        points = {p.get_attribute("data-point") for p in self.find("[data-point]")}
        self.assertEqual(points, {"run 1", "run 2", "now", "reference"})

    def test_figures_in_the_page_are_those_of_the_profile(self):
        for exercise, path in self.pages.items():
            with self.subTest(exercise):
                self.show(path, "code")
                self.assertNotRegex(self.find("#view")[0].text, r"(//|#)~")
                name = self.driver.execute_script(
                    "return document.querySelector('#kernel').selectedOptions[0].textContent")
                kernel = next(k for k in graded.data_of(path)["run"]["profile"]["kernels"]
                              if k["name"] == name)
                for line in kernel["lines"]:
                    rows = self.find(f"tr[data-line='{line['line']}']")
                    cells = [c.get_attribute("data-value") for r in rows for c in
                             r.find_elements(By.CSS_SELECTOR, "[data-measure=warp_instructions]")]
                    self.assertIn(str(line["counters"]["warp_instructions"]), cells)

    def test_a_click_on_a_line_leads_to_its_counters_and_its_picture(self):
        self.show(self.questions["bank"], "code")
        line = next(n for n, text in enumerate(graded.QUESTIONS.read_text().splitlines(), 1)
                    if "tile[threadIdx.x][3]" in text)
        self.find(f"tr[data-line='{line}'] button")[0].click()
        shown = {c.get_attribute("data-counter"): c.text for c in self.find("[data-counter]")}
        self.assertEqual(shown["shared_load_wavefronts"], "32")
        next(b for b in self.find("#view button") if "read from tile" in b.text).click()
        self.assertIn("read from tile", self.find("#say")[0].text)
        self.assertIn("bank 3", self.find("#view")[0].text)
        self.assertTrue(self.driver.current_url.split("#")[1].startswith("lens/0/"))
        self.assert_quiet("click")

    def test_keys(self):
        self.show(self.pages["03_memory_model/05_transpose_tile"], "code")
        body = self.find("body")[0]
        for number, view in enumerate(VIEWS, 1):
            body.send_keys(str(number))
            chosen, = self.find("[role=tab][aria-selected=true]")
            self.assertEqual(chosen.get_attribute("id"), f"tab-{view}")
        self.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)  # from the last tab
        self.assertEqual(self.find("[aria-selected=true]")[0].get_attribute("id"), "tab-roofline")
        body.send_keys("2")
        self.driver.execute_script("document.querySelector('#view').focus()")
        before = self.find("#view")[0].text
        self.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(before, self.find("#view")[0].text)
        self.assertTrue(self.driver.current_url.endswith("/1"))
        self.assert_quiet("keys")

    def test_every_control_is_reached_by_tab(self):
        self.show(self.questions["bank"], "lens")
        reached = set()
        for _ in range(30):
            self.find("body")[0].send_keys(Keys.TAB) if not reached else \
                self.driver.switch_to.active_element.send_keys(Keys.TAB)
            active = self.driver.switch_to.active_element
            reached.add((active.tag_name, active.get_attribute("aria-label") or active.text))
        for wanted in ["Execution: one back", "Execution: one on", "Load or store", "The array"]:
            self.assertTrue(any(name == wanted for _, name in reached), wanted)

    def test_the_slider_goes_through_executions(self):
        self.show(self.pages["03_memory_model/05_transpose_tile"], "lens/0/0/0")
        first = self.find("#say")[0].text
        self.find(".stepper button")[1].click()
        self.assertNotEqual(first, self.find("#say")[0].text)

    def test_no_colour_of_a_block_means_two_lines(self):
        self.show(self.pages["07_tiled_matmul/04_matmul_shared"], "block")
        colours = self.driver.execute_script(
            "return [...document.querySelectorAll('rect[data-line][class^=hue]')]"
            ".map((e) => [e.getAttribute('class'), e.dataset.line])")
        lines = {}
        for colour, line in colours:
            lines.setdefault(colour, set()).add(line)
        shared = lines.pop("hue7", set())  # the lines that take least time
        self.assertGreater(len(shared), 1)
        self.assertEqual(len(lines), 7)
        self.assertEqual({len(of) for of in lines.values()}, {1}, lines)

    def test_the_step_shows_shared_memory(self):
        self.show(self.questions["race"], "block")
        self.assertIn("63", self.find(".cells")[0].text)
        self.driver.execute_script("const r = document.querySelector('.steps'); r.value = 0;"
                                   "r.dispatchEvent(new Event('input'));")
        self.assertNotIn("63", self.find(".cells")[0].text)

    def test_pictures_answer_the_five_questions(self):
        self.show(self.questions["outside"], "findings")
        self.assertIn("Outside: lane 31 of warp 0, block (1, 0, 0)", self.find("#view")[0].text)
        self.show(self.questions["bank"], "lens")
        self.assertIn("bank 3", self.find("#view")[0].text)
        self.show(self.questions["barrier"], "findings")
        self.assertIn("32 threads waiting, 32 of the block not there", self.find("#view")[0].text)
        self.show(self.questions["race"], "findings")
        self.assertIn("no arrow: nothing says which is first",
                      self.find("#view svg")[0].get_attribute("textContent"))
        self.show(self.questions["copies"], "time")
        self.assertIn("2 of 3 copies have no kernel beside them", self.find("#view")[0].text)

    def test_a_large_run_is_a_small_file_that_opens_at_once(self):
        """A naive product of 512 x 512: less than 3 MB, drawn in less than 2 s."""
        path = graded.page("--", str(graded.PRODUCT))
        self.assertLess(path.stat().st_size, 3_000_000)
        took = []
        for _ in range(3):  # the machine may be busy with something else
            self.show(path, "code")
            self.assertTrue(self.find("#view table"))
            took.append(self.driver.execute_script(
                "return performance.getEntriesByType('navigation')[0].loadEventEnd"))
        self.assertTrue(all(t > 0 for t in took), took)
        self.assertLess(min(took), 2000, "milliseconds until the page was drawn")
        print(f"a product of 512 x 512: {path.stat().st_size} bytes, "
              f"drawn after {min(took):.0f} ms")

    def test_the_timeline_says_where_the_card_was_divided(self):
        for which, path in self.questions.items():
            with self.subTest(which):
                run = graded.data_of(path)["run"]
                self.show(path, "time")
                if not self.find("#view svg") or not run["timeline"]["items"]:
                    continue
                divided = any(k["cost"]["slice"] > 1 for k in run["profile"]["kernels"])
                self.assertEqual(bool(self.find("#divided")), divided)

    def test_banks_agree_with_the_simulator(self):
        """The page works out the passes again: they must be as many as the simulator counted."""
        for exercise, path in self.pages.items():
            self.show(path, "lens")
            wrong = self.driver.execute_script(
                "return window.checkPasses ? window.checkPasses() : null")
            self.assertEqual(wrong, [], exercise)


if __name__ == "__main__":
    missing = [what for what, there in [("python3-selenium", webdriver is not None),
                                        ("chromium", shutil.which("chromium")),
                                        ("chromium-driver", shutil.which("chromedriver"))]
               if not there]
    if missing:
        print("skipped: needs", ", ".join(missing))
        sys.exit(77)
    unittest.main()
