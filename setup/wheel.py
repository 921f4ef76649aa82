"""The prebuilt grader. `make` packs what compiling the grader gave into a wheel; `take`, which
setup/wheel.sh calls, unpacks one that fits this clone and this machine into build/prebuilt, where
setup/reuse.sh finds each object by the command that would make it. Linking is left to the build."""

import argparse
import base64
import csv
import glob
import hashlib
import io
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
FORMAT = 2
# What the objects are made from. reuse.sh looks at the same places.
SOURCES = ["CMakeLists.txt", "CMakePresets.json", "chapters/course.json", "cmake", "grader/cli",
           "grader/course", "grader/kit", "grader/simulator"]
# What a first verdict waits for, the lane loops of every processor, and what is soon asked for.
TARGETS = ["grade.ready", "grade.first", "grade.more", "warplings.kit.speed"]
LANES = [f"grader/simulator/CMakeFiles/warplings.simulator.lanes.{isa}.dir/"
         for isa in ("baseline", "avx2", "avx512")]
# What names its folder, so that no wheel can hold it, but can be compiled while CMake still configures: the
# precompiled header, then the first test, which includes it.
AHEAD = re.compile(r"/cmake_pch\.hxx\.gch$|^CMakeFiles/01_\w+\.01_\w+\.test\.dir/")
# Of these, other versions would not fit what is compiled here against them: each file must be the same.
SHARED_HEADERS = re.compile(r"/((?:gtest/.*)|(?:crt/.*)|(?:[a-z_]*(?:cuda|vector|driver|device|surface|"
                            r"texture|library|builtin)[a-z_]*\.(?:h|hpp)))$")
EPOCH = (1980, 1, 1, 0, 0, 0)
MODULE = "warplings_grader"


class Misfit(Exception):
    """Why a wheel is not taken."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def source_hash(root):
    """One hash of names and contents of all that the objects are made from."""
    names = []
    for source in SOURCES:
        names += [source] if os.path.isfile(os.path.join(root, source)) else [
            os.path.relpath(os.path.join(where, name), root)
            for where, folders, files in os.walk(os.path.join(root, source))
            if not where.endswith("__pycache__") for name in files]
    return sha256("".join(f"{sha256(read(os.path.join(root, name)))} {name}\n"
                          for name in sorted(names)).encode())


def machine_here(cxx):
    """What an object can only be linked on the like of."""
    version = subprocess.run([cxx, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True)
    return {"machine": platform.machine(), "glibc": ".".join(platform.libc_ver()[1].split(".")[:2]),
            "gcc": version.stdout.strip()}


def machine_of(cxx):
    """The same of the machine that this compiler compiles for."""
    ran = subprocess.run([cxx, "-dumpmachine"], capture_output=True, text=True)
    machine, here = ran.stdout.strip().split("-")[0], machine_here(cxx)
    if machine == here["machine"]:
        return here
    defined = subprocess.run([cxx, "-E", "-dM", "-include", "features.h", "-x", "c++", "/dev/null"],
                             capture_output=True, text=True).stdout
    glibc = [re.search(rf"^#define {name} (\d+)$", defined, re.M) for name in ("__GLIBC__", "__GLIBC_MINOR__")]
    if not machine or None in glibc:
        raise SystemExit(f"wheel: {cxx} does not say what it compiles for")
    return {**here, "machine": machine, "glibc": ".".join(found.group(1) for found in glibc)}


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


# ---- make ----------------------------------------------------------------------------------------

class Build:
    """A finished build folder, as Ninja knows it."""

    def __init__(self, root, folder, ninja):
        self.root, self.folder, self.program = root, os.path.abspath(folder), ninja
        # Not CMakeCache.txt: a compiler that a toolchain file names is not there.
        found = glob.glob(os.path.join(glob.escape(folder), "CMakeFiles/*/CMakeCXXCompiler.cmake"))
        if not found:
            raise SystemExit(f"wheel: {folder} is no configured build folder")
        self.cxx = re.search(r'^set\(CMAKE_CXX_COMPILER "(.*)"\)$', read(found[0]).decode(), re.M).group(1)

    def ninja(self, *arguments):
        ran = subprocess.run([self.program, "-C", self.folder, *arguments], capture_output=True, text=True)
        if ran.returncode != 0:
            raise SystemExit(f"wheel: ninja {' '.join(arguments)} failed:\n{ran.stdout[-2000:]}{ran.stderr}")
        return ran.stdout

    def plain(self, text):
        """A path, or a word of a command that has one, without the places of this machine."""
        for name, folder in (("@BUILD@", self.folder), ("@ROOT@", self.root)):
            text = re.sub(rf"(^|-I|=){re.escape(folder)}(/|=|$)", rf"\1{name}\2", text)
        return text

    def words(self, command):
        """What the compiler is called with."""
        words = shlex.split(command)
        return ["@CUDA@" if os.path.isfile(os.path.join(word, "cuda_runtime.h")) else self.plain(word)
                for word in words[words.index(self.cxx) + 1:]]

    def key(self, command):
        """The name of what a command makes; reuse.sh reckons the same. A compiler's own name and where
        the system has its headers do not count."""
        words = self.words(command)
        kept = [word for before, word in zip(["", *words], words) if "-isystem" not in (before, word)]
        if any(re.match(r"(-I)?(/|@CUDA@)", word) for word in kept):
            raise SystemExit(f"wheel: this command holds for this machine alone: {command}")
        return sha256("".join(word + "\n" for word in kept).encode())

    def objects(self):
        """(object, command) of all C++ objects of the targets."""
        entries = [entry for entry in json.loads(self.ninja("-t", "compdb"))
                   if re.search(r"\.(cpp|cxx)$", entry["file"])]
        lanes = [entry["output"] for entry in entries if entry["output"].startswith(tuple(LANES))]
        self.ninja(*TARGETS, *lanes)
        wanted = {*lanes, *self.ninja("-t", "inputs", *TARGETS).splitlines()}
        return sorted((e["output"], e["command"]) for e in entries if e["output"] in wanted)

    def dependencies(self, name):
        lines = self.ninja("-t", "deps", name).splitlines()[1:]
        return [os.path.join(self.folder, line.strip()) for line in lines if line.strip()]

    def written(self, dependencies):
        """What CMake writes of them, by name; PCH and test include it."""
        texts = {os.path.relpath(path, self.folder): read(path).decode().replace(self.root + "/", "@ROOT@/")
                 for path in map(os.path.normpath, dependencies)
                 if path.startswith(self.folder + "/") and not path.endswith(".gch")}
        return dict(sorted(texts.items()))


def in_toolkit(path):
    """A header of CUDA's, fetched into the clone: the system's, as it were."""
    return path.startswith(os.path.join(ROOT, ".toolkit") + "/")


def shared_headers(dependencies):
    found = {}
    for path in map(os.path.normpath, dependencies):
        if path.startswith(ROOT + "/") and not in_toolkit(path):
            continue
        match = SHARED_HEADERS.search(path)
        if match and "/include/c++/" not in path:  # g++'s own, a cross compiler's elsewhere
            found[match.group(1)] = sha256(read(path))
    return found


def cmake_answers(build):
    """What CMake asks nvcc by compiling two programs, which takes longer than all else that it does: its own
    file of the answers, with names in place of this machine's paths."""
    path = glob.glob(os.path.join(glob.escape(build.folder), "CMakeFiles/*/CMakeCUDACompiler.cmake"))[0]
    text = read(path).decode()
    value = dict(re.findall(r'^set\((CMAKE_CUDA_\w+) "(.*)"\)$', text, re.M))
    for name, place in (("@NVCC@", value["CMAKE_CUDA_COMPILER"]),
                        ("@CUDA_HOME@", value["CMAKE_CUDA_COMPILER_TOOLKIT_ROOT"]), ("@CXX@", build.cxx)):
        text = re.sub(rf'(?<=[";]){re.escape(place)}(?=[/";])', name, text)
    return {"cmake": os.path.basename(os.path.dirname(path)), "nvcc": value["CMAKE_CUDA_COMPILER_VERSION"],
            "file": text}


def make(arguments):
    build = Build(ROOT, arguments.build, arguments.ninja)
    files, objects, ahead, headers = {}, [], [], {}
    for name, command in build.objects():
        data = read(os.path.join(build.folder, name))
        dependencies = build.dependencies(name)
        if AHEAD.search(name):
            ahead.append({"key": build.key(command), "object": name, "words": build.words(command),
                          "files": build.written(dependencies)})
            headers.update(shared_headers(dependencies))
        if ROOT.encode() + b"/" in data or name.endswith(".gch"):
            continue  # names its folder, as what keeps line tables does: compiled where it is used
        plain = sorted({build.plain(os.path.normpath(path)) for path in dependencies
                        if not in_toolkit(os.path.normpath(path))})
        for path in plain:
            if path.startswith("@ROOT@/") and not any(
                    path == "@ROOT@/" + source or path.startswith(f"@ROOT@/{source}/") for source in SOURCES):
                raise SystemExit(f"wheel: {name} is made from {path}, which is not among SOURCES")
        headers.update(shared_headers(dependencies))
        key = build.key(command)
        files[f"{MODULE}/objects/{key}.o"] = data
        objects.append({"key": key, "object": name, "needs": plain})
    here = machine_of(build.cxx)
    sources = source_hash(ROOT)
    manifest = {"format": FORMAT, "sources": sources, **here, "headers": dict(sorted(headers.items())),
                "answers": cmake_answers(build), "objects": objects,
                "ahead": sorted(ahead, key=lambda item: not item["object"].endswith(".gch"))}
    files[f"{MODULE}/manifest.json"] = (json.dumps(manifest, indent=1) + "\n").encode()
    files[f"{MODULE}/__init__.py"] = b'"""Objects of the Warplings grader; ./grade of the same sources takes them."""\n'
    path = write_wheel(arguments.out, files, here, sources)
    print(f"{path}\n{sha256(read(path))}  {len(objects)} objects, {os.path.getsize(path) >> 10} KiB")


def project_version():
    project = read(os.path.join(ROOT, "CMakeLists.txt")).decode()
    return re.search(r"project\(warplings VERSION ([\d.]+)", project).group(1)


def write_wheel(out, files, here, sources):
    return write_package(
        out, MODULE, f"{project_version()}+s{sources[:12]}", files,
        f"py3-none-manylinux_{here['glibc'].replace('.', '_')}_{here['machine']}",
        build=f"1gcc{numbers(here['gcc'])[0]}", summary="Objects of the Warplings grader, compiled")


def write_package(out, module, version, files, tag, *, summary, build="", scripts=None, python=""):
    """A wheel: the same files give the same bits."""
    info = f"{module}-{version}.dist-info"
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: {version}\n"
                                 + (f"Requires-Python: {python}\n" if python else "")
                                 + f"Summary: {summary}\nLicense: MIT\n").encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: setup/wheel.py\n"
                              f"Root-Is-Purelib: {'true' if tag.endswith('-any') else 'false'}\n"
                              f"Tag: {tag}\n" + (f"Build: {build}\n" if build else "")).encode()
    if scripts:
        files[f"{info}/entry_points.txt"] = "".join(
            ["[console_scripts]\n", *(f"{name} = {place}\n" for name, place in scripts.items())]).encode()
    record = "".join(f"{name},sha256={record_hash(data)},{len(data)}\n" for name, data in sorted(files.items()))
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "-".join(filter(None, (module, version, build, tag))) + ".whl")
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            packed.writestr(entry, data)
    os.replace(path + ".new", path)
    return path


def record_hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


# ---- take ----------------------------------------------------------------------------------------

def wheels_of(places, sources):
    """(name, bytes) of the wheels at the places, the ones of these sources first."""
    for place in places:
        place, _, pinned = place.partition("#sha256=")
        if os.path.isdir(place):
            names = [name for name in sorted(os.listdir(place)) if name.endswith(".whl")]
            if not names:
                raise Misfit(f"{place} holds no wheel")
            names.sort(key=lambda name: f"+s{sources[:12]}-" not in name)
            for name in names:
                yield name, read(os.path.join(place, name))
            continue
        data = fetched(place, pinned) if "://" in place else read_file(place)
        if pinned and sha256(data) != pinned:
            raise Misfit(f"the SHA-256 of {place} is {sha256(data)}, not {pinned}")
        yield os.path.basename(place), data


def read_file(path):
    try:
        return read(path)
    except OSError as error:
        raise Misfit(f"cannot read {path}: {error.strerror}") from error


def fetched(url, pinned):
    """Nobody but its hash vouches for what comes from a network."""
    if not pinned:
        raise Misfit(f"{url} does not end in #sha256= and the hash that it must have")
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read()
    except OSError as error:
        raise Misfit(f"cannot fetch {url}: {error}") from error


def contents(data):
    """The files of a wheel, each compared with its hash in RECORD; nothing else counts."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            names = wheel.namelist()
            record = next((name for name in names if name.endswith(".dist-info/RECORD")), None)
            if record is None:
                raise Misfit("it has no RECORD")
            files = {}
            for name, digest, *_ in csv.reader(io.StringIO(wheel.read(record).decode())):
                if digest:
                    files[name] = wheel.read(name)
                    if digest != "sha256=" + record_hash(files[name]):
                        raise Misfit(f"{name} is not what the wheel's RECORD says: the file is damaged")
            return files
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise Misfit(f"it is damaged ({error})") from error


def check_fit(manifest, sources, here, folders):
    if manifest.get("format") != FORMAT:
        raise Misfit("it is of another version of the course")
    if manifest["sources"] != sources:
        raise Misfit("it is made from other sources of the grader than this clone's")
    if manifest["machine"] != here["machine"]:
        raise Misfit(f"it is for {manifest['machine']}, and this is {here['machine']}")
    if numbers(here["glibc"]) < numbers(manifest["glibc"]) or not here["glibc"]:
        raise Misfit(f"it needs glibc {manifest['glibc']}, and here is {here['glibc'] or 'none'}")
    if numbers(here["gcc"])[:1] != numbers(manifest["gcc"])[:1]:
        raise Misfit(f"it is compiled by g++ {manifest['gcc']}, and here is {here['gcc']}")
    for name, digest in manifest["headers"].items():
        path = next((p for p in (os.path.join(f, name) for f in folders) if os.path.isfile(p)), None)
        if path is None or sha256(read(path)) != digest:
            raise Misfit(f"it is compiled with another {name} than the one here")


def header_folders(cuda_home):
    targets = os.path.join(cuda_home, "targets")
    return [os.path.join(cuda_home, "include"), "/usr/local/include", "/usr/include"] + [
        os.path.join(targets, name, "include")
        for name in (sorted(os.listdir(targets)) if os.path.isdir(targets) else [])]


def checked_key(item):
    if not re.fullmatch(r"[0-9a-f]{64}", item["key"]):
        raise Misfit("it names an object as none is named")
    return item["key"]


def unpack(files, manifest, root, build, into):
    """Each object, and the list of what it is made from as a compiler would have written it."""
    for item in manifest["objects"]:
        key = checked_key(item)
        needs = [path.replace("@BUILD@", build).replace("@ROOT@", root) for path in item["needs"]]
        # Another system has its own headers elsewhere, and Ninja would miss these for ever.
        needs = [path for path, plain in zip(needs, item["needs"]) if plain[0] == "@" or os.path.exists(path)]
        with open(os.path.join(into, key + ".o"), "wb") as file:
            file.write(files[f"{MODULE}/objects/{key}.o"])
        with open(os.path.join(into, key + ".d"), "w", encoding="utf-8") as file:
            file.write(" ".join([item["object"] + ":"] + [path.replace(" ", "\\ ") for path in needs]) + "\n")


def write_ahead(manifest, root, build, arguments, into, final):
    """ahead.sh, which compiles what no wheel can hold while CMake configures: by the commands that Ninja
    would run later, and with the files that CMake will write."""
    cuda = next(f for f in header_folders(arguments.cuda_home)
                if os.path.isfile(os.path.join(f, "cuda_runtime.h")))
    # However it ends, nobody waits for it any longer (reuse.sh).
    done = ": >" + shlex.quote(os.path.join(final, "ahead/done"))
    lines = [f"trap {shlex.quote(done)} EXIT", f"cd {shlex.quote(build)} || exit 1"]
    awaited = []
    for item in manifest["ahead"]:
        target = os.path.normpath(os.path.join(build, item["object"]))
        made = {os.path.normpath(os.path.join(build, name)): text for name, text in item["files"].items()}
        for path, text in [(target, None), *made.items()]:
            if not path.startswith(build + "/"):
                raise Misfit("it would write outside the build folder")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text is not None:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace("@ROOT@", root))
        base = os.path.join(final, "ahead", checked_key(item))
        awaited.append(checked_key(item))
        words = [word.replace("@BUILD@", build).replace("@ROOT@", root).replace("@CUDA@", cuda)
                 for word in item["words"]]
        for option, value in (("-o", base + ".new"), ("-MF", base + ".d")):
            words[words.index(option) + 1] = value
        lines.append(shlex.join([arguments.cxx, *words]) + " || exit 1")
        if target.endswith(".gch"):  # where the next one looks for it
            lines.append(shlex.join(["ln", "-f", base + ".new", target]) + " || exit 1")
        lines.append(shlex.join(["mv", base + ".new", base + ".o"]) + " || exit 1")
    os.makedirs(os.path.join(into, "ahead"))
    for key in awaited:
        with open(os.path.join(into, "ahead", key + ".awaited"), "w", encoding="utf-8"):
            pass
    with open(os.path.join(into, "ahead.sh"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_answers(manifest, here, arguments, into):
    """CMake's answers about nvcc, for a build folder that has none: only where CMake, nvcc and g++ are of the
    versions that gave them, and every place that they name is here. Else CMake asks, as ever."""
    answers = manifest["answers"]
    said = subprocess.run([arguments.cmake, "--version"], capture_output=True, text=True).stdout
    said += subprocess.run([arguments.nvcc, "--version"], capture_output=True, text=True).stdout
    versions = re.search(r"cmake version (\S+)", said), re.search(r"V(\d+\.\d+\.\d+)", said)
    if None in versions or [v.group(1) for v in versions] != [answers["cmake"], answers["nvcc"]]:
        return
    text = answers["file"]
    for name, place in (("@NVCC@", arguments.nvcc), ("@CUDA_HOME@", os.path.realpath(arguments.cuda_home)),
                        ("@CXX@", arguments.cxx)):
        text = text.replace(name, place)
    places = re.findall(r'(?<=[";])/[^";]*', text)
    if here["gcc"] == manifest["gcc"] and all(map(os.path.exists, places)):
        folder = os.path.join(into, "cmake", answers["cmake"])
        os.makedirs(folder)
        with open(os.path.join(folder, "CMakeCUDACompiler.cmake"), "w", encoding="utf-8") as file:
            file.write(text)


def take(arguments):
    """Prints what was done in one line; exit status 1 if nothing was taken."""
    root = os.path.abspath(arguments.root)
    build, final = os.path.join(root, "build/sim"), os.path.join(root, "build/prebuilt")
    fresh = final + ".new"
    for folder in (fresh, final):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(fresh)
    # Before the sources are read: what changes after this is newer (reuse.sh).
    with open(os.path.join(fresh, "mark"), "w", encoding="utf-8"):
        pass
    sources, here = source_hash(root), machine_here(arguments.cxx)
    name, reason = "", "there is none"
    try:
        for name, data in wheels_of(arguments.places, sources):
            try:
                files = contents(data)
                manifest = json.loads(files[f"{MODULE}/manifest.json"])
                check_fit(manifest, sources, here, header_folders(arguments.cuda_home))
                unpack(files, manifest, root, build, fresh)
                write_ahead(manifest, root, build, arguments, fresh, final)
                write_answers(manifest, here, arguments, fresh)
                os.rename(fresh, final)
                print(f"taken from {name} ({len(manifest['objects'])} compiled files)")
                return 0
            except Misfit as misfit:
                reason = f"{name}: {misfit}"
            except (KeyError, TypeError, ValueError) as error:
                reason = f"{name}: it is damaged ({type(error).__name__} {error})"
    except Misfit as misfit:
        reason = str(misfit)
    shutil.rmtree(fresh, ignore_errors=True)
    print(f"not taken, so it is built here. {reason}")
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="pack build/sim, finished where it is not, into a wheel")
    making.add_argument("--build", default=os.path.join(ROOT, "build/sim"))
    making.add_argument("--ninja", default=os.environ.get("GRADE_NINJA", "ninja"))
    making.add_argument("--out", default=os.path.join(ROOT, "build/wheel"))
    making.set_defaults(run=make)
    taking = commands.add_parser("take", help="unpack the first wheel that fits into build/prebuilt")
    taking.add_argument("--root", default=ROOT)
    taking.add_argument("--cxx", required=True)
    taking.add_argument("--cuda-home", required=True)
    taking.add_argument("--nvcc", required=True)
    taking.add_argument("--cmake", required=True)
    taking.add_argument("places", nargs="+", help="a wheel, a folder of wheels, or URL#sha256=HASH")
    taking.set_defaults(run=take)
    sys.exit(parser.parse_args().run(parser.parse_args()))


if __name__ == "__main__":
    main()
