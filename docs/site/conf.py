"""The site: the pages of the repository as they are, in course order, with a search.

    ./grade dev site

Sphinx with MyST; the source folder is the root of the repository, so no page is a copy.
"""

import pathlib

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
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "chapters/*/README.md", "docs/**.md",
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
html_copy_source = False
html_show_sourcelink = False

# The order of "next" and "previous", and of the menu. A page that nobody names comes last.
ORDER = [
    ("Start", ["setup/README", "docs/routes", "docs/concepts"]),
    ("Chapters", ["chapters/*/README"]),
    ("Beside the chapters", ["docs/README", "docs/background/*"]),
    ("Findings", ["docs/findings/README", "docs/findings/*"]),
    ("Why trust it", ["docs/why_trust_it", "docs/benchmarks", "grader/tests/AGREEMENT",
                      "assets/benchmarks/notes"]),
    ("For authors", ["CONTRIBUTING", "CHANGELOG", "grader/README", "grader/simulator/README",
                     "grader/simulator/MODEL", "grader/simulator/TIMELINE", "grader/tests/README",
                     "**/*"]),
]


def toctrees(documents):
    """The menu, as MyST: every document of the site once."""
    left = set(documents) - {root_doc}
    text = ""
    for caption, patterns in ORDER:
        found = []
        for pattern in patterns:
            some = sorted(d for d in left
                          if pathlib.PurePosixPath(d).match(pattern) or pattern == "**/*")
            left -= set(some)
            found += some
        if found:
            lines = "\n".join("/" + document for document in found)
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
    return text


def add_menu(app, document, source):
    if document == root_doc:
        source[0] += toctrees(app.env.found_docs)


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
