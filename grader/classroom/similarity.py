"""Answers side by side, by an existing tool: only what students wrote."""

import os
import shutil
import subprocess

from assignment import ROOT, Mistake, source_of

def lines_of(text):
    return [line.rstrip() for line in text.decode(errors="replace").splitlines()]


def own_part(exercise, text):
    """The lines that are not the starter's."""
    with open(os.path.join(ROOT, source_of(exercise)), "rb") as file:
        given = {line.strip() for line in lines_of(file.read()) if line.strip()}
    own = [line for line in lines_of(text) if line.strip() and line.strip() not in given]
    return "\n".join(own) + "\n"


def write_parts(exercises, submissions, folder):
    """A folder per exercise with a file per student, as every such tool wants them."""
    made = []
    for exercise in exercises:
        of_exercise = os.path.join(folder, exercise["id"].replace("/", "."))
        os.makedirs(of_exercise, exist_ok=True)
        ending = os.path.splitext(source_of(exercise))[1]
        ending = ".cpp" if ending == ".cu" else ending  # what the tools know
        for submission in submissions:
            text = submission.files.get(exercise["id"])
            if text is not None:
                with open(os.path.join(of_exercise, submission.student + ending), "w",
                          encoding="utf-8") as file:
                    file.write(own_part(exercise, text))
        made.append(of_exercise)
    return made


def compare(exercises, submissions, folder):
    """Writes the parts and starts Dolos, if it is installed, once per exercise."""
    made = write_parts(exercises, submissions, folder)
    dolos = shutil.which("dolos")
    if dolos is None:
        raise Mistake(f"the parts to compare lie in {folder}, a folder per exercise. To compare "
                      "them, install Dolos (npm install -g @dodona/dolos) and start this again, or "
                      "give a folder to JPlag (java -jar jplag.jar -l cpp FOLDER).")
    for parts in made:
        files = [os.path.join(parts, name) for name in sorted(os.listdir(parts))]
        if len(files) < 2:
            continue
        language = "python" if files[0].endswith(".py") else "cpp"
        subprocess.run([dolos, "run", "-l", language, "-f", "csv", "-o", parts + ".dolos", *files],
                       check=False)
