#!/usr/bin/env python3
"""Checks the built site: every link, anchor and image is there, and no page asks another machine.

    python3 docs/site/check.py build/site [--browser chromium]

With a browser, every page is opened without a network: nothing may be written to its console, and
what is a formula in the source must be one on the page. No page may be wider than a screen of 360
pixels. The cheat sheet is printed beside its page (cheat_sheet.pdf), on two sheets.
Python 3, standard library only.
"""

import argparse
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse


class Page(html.parser.HTMLParser):
    """Links, ids and what is fetched, of one page."""

    def __init__(self):
        super().__init__()
        self.links, self.ids, self.fetched = [], set(), []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if named.get("id"):
            self.ids.add(named["id"])
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in ("img", "script", "iframe", "source") and named.get("src"):
            self.fetched.append(named["src"])
        if tag == "link" and named.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.append(named["href"])


def is_remote(target):
    return bool(re.match(r"[a-z][a-z0-9+.-]*:|//", target)) and not target.startswith("data:")


def problems_of(site):
    pages = {}
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = page
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in page.fetched:
            if is_remote(target):
                yield f"{name} asks another machine for {target}"
        for target in page.links + page.fetched:
            if is_remote(target) or target.startswith("data:"):
                continue
            parts = urllib.parse.urlsplit(target)
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                yield f"{name} links to {target}, which is not there"
            elif parts.fragment and there in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[there].ids:
                    yield f"{name} links to {target}, where nothing has that name"


def ask_browser(browser, path, *arguments):
    """Runs a headless browser that reaches no network on a page."""
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}",
             "--virtual-time-budget=3000", *arguments, path.resolve().as_uri()],
            capture_output=True, text=True, timeout=120)


def problems_in_browser(browser, path):
    """What a page writes to the console, and formulas that were not drawn."""
    seen = ask_browser(browser, path, "--dump-dom")
    yield from (line for line in seen.stderr.splitlines() if ":CONSOLE" in line)
    formulas = path.read_text(encoding="utf-8").count('class="math')
    drawn = seen.stdout.count("<mjx-container")
    if drawn < formulas:
        yield f"{formulas} formulas, {drawn} of them drawn"


HARNESS = """<!doctype html><body><script>
const pages = %s;
(async () => {
  for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.style = "width:360px;height:740px;border:0";
    frame.src = page;
    document.body.append(frame);
    await new Promise((done) => { frame.onload = done; });
    const root = frame.contentDocument.documentElement;
    const line = document.createElement("p");
    line.textContent = "width " + root.scrollWidth + " " + page;
    frame.remove();
    document.body.append(line);
  }
})();
</script>"""


def problems_of_width(browser, site):
    """Pages that a screen of 360 pixels shows only by scrolling sideways."""
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    harness = site / "narrow_screen.html"
    harness.write_text(HARNESS % json.dumps(pages), encoding="utf-8")
    try:
        seen = ask_browser(browser, harness, "--allow-file-access-from-files", "--dump-dom",
                           "--virtual-time-budget=600000")
    finally:
        harness.unlink()
    widths = dict((page, int(width)) for width, page in
                  re.findall(r"<p>width (\d+) (.*?)</p>", seen.stdout))
    for page in pages:
        if page not in widths:
            yield f"{page} could not be measured"
        elif widths[page] > 360:
            yield f"{page} is {widths[page]} pixels wide on a screen of 360"


def print_cheat_sheet(browser, site):
    page = site / "docs/background/cheat_sheet.html"
    pdf = page.with_suffix(".pdf")
    ask_browser(browser, page, "--no-pdf-header-footer", f"--print-to-pdf={pdf.resolve()}")
    if not pdf.exists():
        yield "the cheat sheet was not printed"
        return
    sheets = len(re.findall(rb"/Type\s*/Page[^s]", pdf.read_bytes()))
    if sheets != 2:
        yield f"the cheat sheet takes {sheets} sheets of paper"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--browser", help="open every page with it")
    options = parser.parse_args()
    count = len(list(options.site.rglob("*.html")))
    if count == 0:
        sys.exit(f"{options.site} holds no pages; ./grade dev site builds them.")
    found = list(problems_of(options.site))
    if options.browser:
        for path in sorted(options.site.rglob("*.html")):
            name = os.path.relpath(path, options.site)
            found += [f"{name}: {line}" for line in problems_in_browser(options.browser, path)]
        found += problems_of_width(options.browser, options.site)
        found += print_cheat_sheet(options.browser, options.site)
    print("\n".join(found))
    print(f"{count} pages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
