#!/usr/bin/env python3
"""Checks the built site: every link, anchor and image is there, and no page asks another machine.

    python3 docs/site/check.py build/site [--browser chromium]

With a browser, every page is opened without a network, and nothing may be written to its console.
Python 3, standard library only.
"""

import argparse
import html.parser
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


def console_of(browser, path):
    """What a page writes to the console of a browser that reaches no network."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}",
             "--virtual-time-budget=3000", "--dump-dom", path.resolve().as_uri()],
            capture_output=True, text=True, timeout=120)
    return [line for line in result.stderr.splitlines() if ":CONSOLE" in line]


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
            found += [f"{name}: {line}" for line in console_of(options.browser, path)]
    print("\n".join(found))
    print(f"{count} pages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
