"""The site: the pages of the repository as they are, in course order, with a search.

    ./grade dev site

Sphinx with MyST; the source folder is the root of the repository, so no page is a copy.
"""

import html
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "Warplings"
author = "the authors of Warplings"
project_copyright = "the authors of Warplings; Apache-2.0"
html_title = "Warplings: CUDA C++ by making kernels pass"

# MathJax comes with the last one: a page asks no other machine for anything.
extensions = ["myst_parser", "sphinx_copybutton", "sphinx-mathjax-offline"]
source_suffix = {".md": "markdown"}
root_doc = "README"
include_patterns = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "chapters/*/*.md", "docs/**.md",
    "setup/README.md", "grader/**.md", "assets/benchmarks/*.md",
]
# Hints are given one at a time, by ./grade hint.
exclude_patterns = ["**/*_hints.md"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

highlight_language = "none"  # screens have no language

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["predict.js"]
html_copy_source = False
html_show_sourcelink = False

# The order of "next" and "previous", and of the menu. A page that nobody names comes last.
ORDER = [
    ("Start", ["setup/README", "docs/routes", "docs/concepts"]),
    ("Chapters", ["chapters/*/*"]),
    ("Beside the chapters", ["docs/README", "docs/background/*"]),
    ("Findings", ["docs/findings/README", "docs/findings/*"]),
    ("Why trust it", ["docs/why_trust_it", "docs/benchmarks", "grader/tests/AGREEMENT",
                      "assets/benchmarks/notes"]),
    ("For authors", ["CONTRIBUTING", "CHANGELOG", "grader/README", "grader/simulator/README",
                     "grader/simulator/MODEL", "grader/simulator/TIMELINE", "grader/tests/README",
                     "**/*"]),
]


def in_course_order(document):
    """A chapter's page before its lessons."""
    return document.replace("/README", "/")


def drawn_question(match):
    """A question of a lesson as a form; its answer is not on the page."""
    lines = match[2].splitlines()
    text = " ".join(line for line in lines
                    if not line.startswith(("- ", "from: ", "within: ")))
    choices = [line[2:] for line in lines if line.startswith("- ")]
    name = html.escape(match[1], quote=True)
    fields = "".join(
        f'<label><input type="radio" name="{name}" value="{html.escape(choice, quote=True)}"> '
        f"{html.escape(choice)}</label>" for choice in choices)
    fields = fields or f'<label><input type="text" name="{name}" size="12"></label>'
    return (f'<form class="predict" data-question="{name}">'
            f"<p><strong>Predict.</strong> {html.escape(text)}</p>{fields}"
            "<p class=\"note\">Kept in this browser. <code>./grade predict</code> says whether it "
            "is right.</p></form>\n")


def as_on_the_site(page):
    """A lesson with its questions drawn, and what comes after the pass behind a click."""
    page = re.sub(r"^```predict (\w+)\n(.*?)^```\n", drawn_question, page,
                  flags=re.MULTILINE | re.DOTALL)
    before, heading, after = page.partition("\n## After you pass\n")
    if not heading:
        return page
    return (before + '\n\n<details class="after"><summary>After you pass</summary>\n\n' + after +
            "\n\n</details>\n")


def toctrees(documents):
    """The menu, as MyST: every document of the site once."""
    left = set(documents) - {root_doc}
    text = ""
    for caption, patterns in ORDER:
        found = []
        for pattern in patterns:
            some = sorted((d for d in left
                           if pathlib.PurePosixPath(d).match(pattern) or pattern == "**/*"),
                          key=in_course_order)
            left -= set(some)
            found += some
        if found:
            lines = "\n".join("/" + document for document in found)
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
    return text


def add_menu(app, document, source):
    if document == root_doc:
        source[0] += toctrees(app.env.found_docs)
    elif document.startswith("chapters/"):
        source[0] = as_on_the_site(source[0])


def add_index(app, exception):
    """The folder opens on the front page."""
    if exception is None:
        (pathlib.Path(app.outdir) / "index.html").write_text(
            '<!doctype html><meta charset="utf-8"><title>Warplings</title>'
            '<meta http-equiv="refresh" content="0; url=README.html">'
            '<a href="README.html">Warplings</a>\n')


def setup(app):
    app.connect("source-read", add_menu)
    app.connect("build-finished", add_index)
