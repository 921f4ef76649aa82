#!/usr/bin/env python3
"""Draws terminal.svg, the moving picture of the front page, from the two screens of README.md.

    python3 assets/figures/terminal.py [--check]

A mistake, its verdict, the repair, the verdict: four scenes that follow each other in one loop, by
CSS alone. With --check nothing is written; exit status 1 where the picture is not what README.md
gives now. Python 3, standard library only.
"""

import html
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS, ROWS = 80, 14
WIDTH, HEIGHT, LEFT, TOP, STEP = 704, 290, 16, 58, 17  # pixels
SCENE = 5  # seconds

WRONG = "const int grid = n / kBlock;"
RIGHT = "const int grid = (n + kBlock - 1) / kBlock;"


def screens():
    """The text blocks below "What a verdict looks like": [wrong, right]."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    section = page.split("## What a verdict looks like")[1].split("\n## ")[0]
    return [block.rstrip("\n") for block in re.findall(r"```\n(.*?)```", section, re.S)][:2]


def editor(line, before):
    """The learner's file around the launch; `before` is the line as it was."""
    source = (ROOT / "solutions/02_vector_add/01_vector_add.cu").read_text(encoding="utf-8")
    lines = [text for text in source.splitlines() if not text.strip().startswith("//")]
    at = next(i for i, text in enumerate(lines) if RIGHT in text)
    shown = lines[at - 2:at + 5]
    note = ["", "", "(saved: ./grade is watching)"]
    return [text.replace(RIGHT, line) for text in shown] + ([] if before is None else [
        "", "- " + before, "+ " + line]) + note


def colour_of(text):
    word = text.strip()
    if word.startswith("PASS") or text.startswith("+ "):
        return "#4ec27a"
    if word.startswith("FAIL") or text.startswith("- "):
        return "#ff7b72"
    if word.startswith("next") or word.startswith("./grade") or word.startswith("(saved"):
        return "#79c0ff"
    return "#d6dde6"


def scene(number, title, lines):
    shown = []
    for row, text in enumerate(lines[:ROWS]):
        shown.append(f'<text x="{LEFT}" y="{TOP + STEP * row}" fill="{colour_of(text)}">'
                     f"{html.escape(text[:COLUMNS])}</text>")
    return (f'<g class="scene" style="animation-delay:{number * SCENE}s">\n'
            f'<text x="{WIDTH // 2}" y="23" text-anchor="middle" fill="#8b98a9">'
            f"{html.escape(title)}</text>\n" + "\n".join(shown) + "\n</g>\n")


def picture():
    wrong, right = screens()
    name = "01_vector_add.cu"
    scenes = [(name, editor(WRONG, None)), ("./grade", wrong.splitlines()),
              (name, editor(RIGHT, WRONG)), ("./grade", right.splitlines())]
    share = 100 / len(scenes)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"
  aria-label="A kernel with one block too few fails with its reason, is mended, and passes">
<style>
text {{ font: 13.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}
.scene {{ opacity: 0; animation: show {SCENE * len(scenes)}s step-end infinite; }}
@keyframes show {{ 0% {{ opacity: 1; }} {share:g}% {{ opacity: 0; }} }}
@media (prefers-reduced-motion: reduce) {{
  .scene {{ animation: none; }}
  .scene:nth-of-type(2) {{ opacity: 1; }}
}}
</style>
<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#12171f"/>
<rect width="{WIDTH}" height="34" rx="8" fill="#1d2530"/>
<circle cx="20" cy="17" r="5.5" fill="#ff7b72"/><circle cx="38" cy="17" r="5.5" fill="#e3b341"/>
<circle cx="56" cy="17" r="5.5" fill="#4ec27a"/>
{"".join(scene(i, *s) for i, s in enumerate(scenes))}</svg>
"""


def main():
    target = HERE / "terminal.svg"
    if "--check" in sys.argv:
        if target.read_text(encoding="utf-8") != picture():
            sys.exit("assets/figures/terminal.svg is old: python3 assets/figures/terminal.py")
        return
    target.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
