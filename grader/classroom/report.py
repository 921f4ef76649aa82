"""Pages for people: one per student with the screens that they would see, one for the class."""

import collections
import html
import os

import results

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .7rem; text-align: left; }
td.number { text-align: right; } tr + tr { border-top: 1px solid #8885; }
pre { overflow-x: auto; padding: .7rem; border: 1px solid #8885; border-radius: .3rem; }
.scroll { overflow-x: auto; }
"""
WORDS = {"pass": "passed", "fail": "failed", "missing": "not handed in", "open": "open",
         "no verdict": "no verdict", "does not compile": "does not compile"}


def page(title, body):
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
            f"<body>\n<h1>{html.escape(title)}</h1>\n{body}</body></html>\n")


def table(head, lines):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    text = f'<div class="scroll"><table>\n<tr>{cells}</tr>\n'
    for line in lines:
        text += "<tr>" + "".join(cell(value) for value in line) + "</tr>\n"
    return text + "</table></div>\n"


def cell(value):
    if isinstance(value, (int, float)):
        return f'<td class="number">{value:g}</td>'
    link, text = value if isinstance(value, tuple) else (None, value)
    shown = html.escape(text)
    return f'<td><a href="{html.escape(link, quote=True)}">{shown}</a></td>' if link else f"<td>{shown}</td>"


def word(record):
    return "not graded yet" if record is None else WORDS[record["outcome"]]


def student_page(assignment, row):
    late = results.late_text(row)
    body = f"<p>{row.total:g} of {assignment.total:g} points. {late}</p>\n"
    for name, record in row.records.items():
        worth = row.points[name]
        body += f"<h2>{html.escape(name)}: {word(record)}"
        body += "" if worth is None else f", {worth:g} of {assignment.points[name]:g}"
        body += f"</h2>\n<pre>{html.escape(results.screen_of(record))}</pre>\n"
    return page(f"{assignment.title}: {row.student}", body)


def most_frequent(rows, what):
    """Counted once per answer."""
    count = collections.Counter()
    for row in rows:
        for name, record in row.records.items():
            devices = (record or {}).get("verdict", {}).get("devices", [])
            count.update({(name, item) for device in devices for item in what(device)})
    return [(name, item, times) for (name, item), times in count.most_common(20)]


def failed_tests(device):
    return [t["name"] for t in device["tests"] if t["outcome"] == "fail"]


def findings(device):
    return [f"{f['check']}/{f['kind']}" for t in device["tests"] for f in t.get("findings", [])
            if not f["note"] and not f["expected"]]


def class_page(assignment, rows, addresses):
    body = f"<p>{len(rows)} students, {assignment.total:g} points.</p>\n"
    lines = []
    for name in assignment.points:
        words = collections.Counter(word(row.records[name]) for row in rows)
        seconds = sorted(row.records[name].get("seconds", 0) for row in rows if row.records[name])
        middle = seconds[len(seconds) // 2] if seconds else 0.0
        lines.append([name, ", ".join(f"{n} {w}" for w, n in words.most_common()), middle])
    body += table(["exercise", "answers", "seconds, median"], lines)
    body += "<h2>Tests that fail most</h2>\n" + table(
        ["exercise", "test", "answers"], most_frequent(rows, failed_tests))
    body += "<h2>Findings</h2>\n" + table(
        ["exercise", "finding", "answers"], most_frequent(rows, findings))
    body += "<h2>Students</h2>\n" + table(
        ["student", "points", "days late", "open"],
        [[(addresses[row.student], row.student), row.total, row.days_late, len(row.open)]
         for row in rows])
    return page(assignment.title, body)


def write(assignment, rows, folder):
    os.makedirs(folder, exist_ok=True)
    addresses = {row.student: f"student_{i + 1}.html" for i, row in enumerate(rows)}
    for row in rows:
        with open(os.path.join(folder, addresses[row.student]), "w", encoding="utf-8") as file:
            file.write(student_page(assignment, row))
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write(class_page(assignment, rows, addresses))
