"""docs/site/check.py finds what is wrong with a site, each thing by itself."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[3] / "docs/site/check.py"
HEAD = '<!doctype html><html><head><title>t</title>{}</head><body>{}</body></html>'


def problems(pages):
    """What check.py prints of a site with these pages {name: (head, body)}, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (head, body) in pages.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(HEAD.format(head, body), encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode


class SiteCheck(unittest.TestCase):
    def rejects(self, pages, said):
        text, status = problems(pages)
        self.assertEqual(status, 1, text)
        self.assertIn(said, text)

    def test_accepts_a_site_whose_links_resolve(self):
        text, status = problems({
            "index.html": ("", '<a href="a/b.html#here">b</a> <a href="https://example.org">e</a>'),
            "a/b.html": ("", '<h1 id="here">b</h1><a href="../index.html">up</a>')})
        self.assertEqual(status, 0, text)

    def test_rejects_a_link_to_no_page(self):
        self.rejects({"index.html": ("", '<a href="gone.html">x</a>')}, "gone.html")

    def test_rejects_an_anchor_that_no_heading_has(self):
        self.rejects({"index.html": ("", '<p id="a"></p><a href="#b">x</a>')}, "#b")

    def test_rejects_a_picture_that_is_not_there(self):
        self.rejects({"index.html": ("", '<img src="p.svg">')}, "p.svg")

    def test_rejects_a_request_to_another_machine(self):
        for head in ('<script src="https://example.org/a.js"></script>',
                     '<link rel="stylesheet" href="//example.org/a.css">'):
            self.rejects({"index.html": (head, "")}, "asks another machine")

    def test_rejects_a_folder_without_pages(self):
        text, status = problems({})
        self.assertEqual(status, 1, text)
        self.assertIn("no pages", text)


if __name__ == "__main__":
    unittest.main()
