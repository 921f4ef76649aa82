"""The prebuilt grader (setup/wheel.py, wheel.sh, reuse.sh): what is refused, with a small course of the
test's own; and with --build FOLDER the real one, packed, taken by a copy of the course, and compared."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
BUILD = None
sys.path.insert(0, os.path.join(REPOSITORY, "setup"))
import wheel  # noqa: E402


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warplings wheel ")
        self.addCleanup(folder.cleanup)
        self.place = folder.name
        self.root = os.path.join(folder.name, "my course")


class SmallCourse(Scratch):
    """Two files instead of the grader's, one object that a fake compiler makes of them."""

    def setUp(self):
        super().setUp()
        for source in wheel.SOURCES:
            name = source if "." in source else source + "/file.cpp"
            write(os.path.join(self.root, name), f"// {name}\n")
        for name in ("reuse.sh", "wheel.sh"):
            shutil.copy(os.path.join(REPOSITORY, "setup", name), os.path.join(self.place, name))
            write(os.path.join(self.root, "setup", name), "")
            shutil.copy(os.path.join(self.place, name), os.path.join(self.root, "setup", name))
        self.build = os.path.join(self.root, "build/sim")
        os.makedirs(self.build)
        self.cxx = os.path.join(self.place, "g++")
        write(self.cxx, '#!/bin/sh\ncase $1 in -dump*) echo 12.3.1 ;; *) echo compiled; echo mine >out.o ;; esac\n')
        os.chmod(self.cxx, 0o755)
        self.cuda = os.path.join(self.place, "cuda")
        write(os.path.join(self.cuda, "include/cuda_runtime.h"), "// 13\n")
        self.cmake, self.nvcc = os.path.join(self.place, "cmake"), os.path.join(self.place, "nvcc")
        for tool, version in ((self.cmake, "cmake version 3.31.2"), (self.nvcc, "Build 1, V13.0.88")):
            write(tool, f"#!/bin/sh\necho '{version}'\n")
            os.chmod(tool, 0o755)
        self.source = os.path.join(self.root, "grader/cli/file.cpp")
        self.words = [f"-I{self.root}/grader", "-isystem", "/else/where", "-MD", "-MF", "out.o.d", "-o", "out.o",
                      "-c", self.source]
        packer = object.__new__(wheel.Build)
        packer.root, packer.folder, packer.cxx = self.root, self.build, self.cxx
        self.key = packer.key(wheel.shlex.join([self.cxx, *self.words]))
        self.manifest = {
            "format": wheel.FORMAT, "sources": wheel.source_hash(self.root), **wheel.machine_here(self.cxx),
            "headers": {"cuda_runtime.h": wheel.sha256(b"// 13\n")}, "ahead": [],
            "answers": {"cmake": "3.31.2", "nvcc": "13.0.88", "file": 'set(A "@NVCC@")\nset(B "@CUDA_HOME@;/usr")\n'},
            "objects": [{"key": self.key, "object": "out.o", "needs": ["@ROOT@/grader/cli/file.cpp", "/no/such.h"]}]}

    def pack(self, **changes):
        manifest = {**self.manifest, **changes}
        files = {f"{wheel.MODULE}/manifest.json": json.dumps(manifest).encode(),
                 f"{wheel.MODULE}/objects/{self.key}.o": b"theirs\n"}
        return wheel.write_wheel(os.path.join(self.place, "out"), files, manifest, manifest["sources"])

    def take(self, *places):
        ran = subprocess.run([sys.executable, "-B", os.path.join(REPOSITORY, "setup/wheel.py"), "take", "--root",
                              self.root, "--cxx", self.cxx, "--cuda-home", self.cuda, "--nvcc", self.nvcc,
                              "--cmake", self.cmake, *places],
                             capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.stdout.count("\n"), 1, ran.stdout)
        self.assertEqual(os.path.exists(os.path.join(self.root, "build/prebuilt/mark")), ran.returncode == 0)
        return ran.returncode, ran.stdout

    def refused(self, why, *places):
        status, said = self.take(*places)
        self.assertEqual(status, 1, said)
        self.assertTrue(said.startswith("not taken, so it is built here. "), said)
        self.assertIn(why, said)

    def compile(self, *more):
        """What the object is after reuse.sh has been asked for it."""
        subprocess.run(["sh", os.path.join(self.root, "setup/reuse.sh"), self.cxx, *more, *self.words],
                       cwd=self.build, check=True, capture_output=True)
        return wheel.read(os.path.join(self.build, "out.o")).decode()

    def test_one_that_fits_is_taken(self):
        status, said = self.take(self.pack())
        self.assertEqual((status, said[:11]), (0, "taken from "), said)
        self.assertEqual(self.compile(), "theirs\n")
        depfile = wheel.read(os.path.join(self.build, "out.o.d")).decode()
        self.assertEqual(depfile, "out.o: " + self.source.replace(" ", "\\ ") + "\n")
        self.assertEqual(self.compile(), "mine\n", "the second time something has changed")

    def answers(self, **changes):
        """CMake's answers about nvcc that a wheel whose answers are changed so leaves for it."""
        status, said = self.take(self.pack(answers={**self.manifest["answers"], **changes}))
        self.assertEqual(status, 0, said)
        path = os.path.join(self.root, "build/prebuilt/cmake/3.31.2/CMakeCUDACompiler.cmake")
        return wheel.read(path).decode() if os.path.exists(path) else ""

    def test_cmake_need_not_ask_nvcc_again(self):
        self.assertEqual(self.answers(), f'set(A "{self.nvcc}")\nset(B "{self.cuda};/usr")\n')

    def test_cmake_asks_where_an_answer_may_be_another(self):
        for changes in ({"cmake": "3.31.3"}, {"nvcc": "13.0.99"}, {"file": 'set(A "/usr;/no/such/place")\n'}):
            with self.subTest(changes):
                self.assertEqual(self.answers(**changes), "")
        self.manifest["gcc"] = "12.3.2"
        self.assertEqual(self.answers(), "")

    def ahead(self, then):
        """What an object becomes that is compiled ahead, while `then` is done."""
        self.take(self.pack())
        folder = os.path.join(self.root, "build/prebuilt/ahead")
        write(os.path.join(folder, self.key + ".awaited"), "")
        with subprocess.Popen(["sh", "-c", f"cd '{folder}'; sleep 0.3; " + then]) as working:
            ran = subprocess.run(["sh", os.path.join(self.root, "setup/reuse.sh"), self.cxx, *self.words], check=True,
                                 cwd=self.build, capture_output=True, timeout=30,
                                 env={**os.environ, "GRADE_AHEAD": str(working.pid)})
        self.assertEqual(ran.stderr, b"")
        return wheel.read(os.path.join(self.build, "out.o")).decode()

    def test_the_build_waits_for_what_is_compiled_ahead(self):
        self.assertEqual(self.ahead(f"echo x.o: >{self.key}.d; echo ahead >{self.key}.o; : >done"), "ahead\n")
        self.assertEqual(self.ahead(": >done; sleep 1"), "theirs\n", "it failed")

    def test_another_command_is_compiled(self):
        self.take(self.pack())
        self.assertEqual(self.compile("-DOTHER"), "mine\n")

    def test_a_source_that_changed_is_compiled(self):
        self.take(self.pack())
        write(self.source, "// edited\n")
        os.utime(self.source, (1, 1))  # with the time set back
        self.assertEqual(self.compile(), "mine\n")

    def test_a_source_that_was_added_is_compiled(self):
        self.take(self.pack())
        write(os.path.join(self.root, "grader/kit/new.h"), "")
        self.assertEqual(self.compile(), "mine\n")

    def test_the_same_files_give_the_same_bits(self):
        first = wheel.read(self.pack())
        os.utime(self.source, (1, 1))
        self.assertEqual(wheel.read(self.pack()), first)

    def test_pip_would_take_it(self):
        name = os.path.basename(self.pack())
        self.assertRegex(name, r"^warplings_grader-[\d.]+\+s[0-9a-f]{12}-1gcc12-py3-none-"
                               r"manylinux_\d+_\d+_\w+\.whl$")

    def test_a_cross_compiler_names_the_machine_it_compiles_for(self):
        write(self.cxx, "#!/bin/sh\ncase $1 in -dumpmachine) echo riscv64-linux-gnu ;; -dump*) echo 12.3.1 ;;\n"
                        "-E) echo '#define __GLIBC__ 2'; echo '#define __GLIBC_MINOR__ 31' ;; esac\n")
        self.assertEqual(wheel.machine_of(self.cxx), {"machine": "riscv64", "glibc": "2.31", "gcc": "12.3.1"})
        write(self.cxx, f"#!/bin/sh\ncase $1 in -dumpmachine) echo {wheel.platform.machine()}-linux-gnu ;; "
                        "-dump*) echo 12.3.1 ;; esac\n")
        self.assertEqual(wheel.machine_of(self.cxx), wheel.machine_here(self.cxx))
        write(self.cxx, "#!/bin/sh\necho nonsense\n")
        with self.assertRaises(SystemExit):
            wheel.machine_of(self.cxx)

    def test_headers_of_cuda_within_the_clone_are_compared_like_the_systems(self):
        fetched = os.path.join(wheel.ROOT, ".toolkit/cross/include/cuda_runtime.h")
        own = os.path.join(wheel.ROOT, "grader/kit/cuda_like.h")
        self.assertTrue(wheel.in_toolkit(fetched) and not wheel.in_toolkit(own))
        with unittest.mock.patch.object(wheel, "read", lambda path: b"// 13\n"):
            self.assertEqual(wheel.shared_headers(["/usr/aarch64-linux-gnu/include/c++/12/bits/stl_bvector.h", own, os.path.join(wheel.ROOT, "x/../.toolkit/cross/include/cuda_runtime.h")]),
                             {"cuda_runtime.h": wheel.sha256(b"// 13\n")})

    def test_what_does_not_fit(self):
        for why, changes in {
                "is made from other sources": {"sources": "0" * 64}, "it is for riscv64": {"machine": "riscv64"},
                "it needs glibc 9.99": {"glibc": "9.99"}, "compiled by g++ 13.1.0": {"gcc": "13.1.0"},
                "another version of the course": {"format": 0},
                "another cuda_runtime.h": {"headers": {"cuda_runtime.h": "0" * 64}},
                "another gtest/none.h": {"headers": {"gtest/none.h": "0" * 64}},
                "names an object as none is named": {"objects": [{**self.manifest["objects"][0], "key": "../../x"}]},
                "outside the build folder": {"ahead": [{"key": "a", "object": "../../../x", "words": [], "files": {}}]},
        }.items():
            with self.subTest(why):
                self.refused(why, self.pack(**changes))
                self.assertEqual(self.compile(), "mine\n")

    def test_a_changed_file_of_the_wheel(self):
        path = self.pack()
        with wheel.zipfile.ZipFile(path) as packed:
            files = {name: packed.read(name) for name in packed.namelist()}
        files[f"{wheel.MODULE}/objects/{self.key}.o"] = b"forged\n"
        with wheel.zipfile.ZipFile(path, "w") as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        self.refused("is not what the wheel's RECORD says", path)

    def test_damaged_files(self):
        data = wheel.read(self.pack())
        for number, broken in enumerate((b"", data[:1000], b"PK" + data[2:400])):
            path = os.path.join(self.place, f"broken{number}.whl")
            with open(path, "wb") as file:
                file.write(broken)
            self.refused("it is damaged", path)
        self.refused("cannot read", os.path.join(self.place, "none.whl"))

    def test_a_url_needs_the_right_hash(self):
        path = self.pack()
        url, digest = "file://" + path.replace(" ", "%20"), wheel.sha256(wheel.read(path))
        self.refused("does not end in #sha256=", url)
        self.refused("the SHA-256 of", url + "#sha256=" + "0" * 64)
        self.refused("cannot fetch", "file:///none.whl#sha256=" + digest)
        self.assertEqual(self.take(url + "#sha256=" + digest)[0], 0)

    def test_a_folder_gives_the_one_that_fits(self):
        folder = os.path.dirname(self.pack(sources="0" * 64))
        self.refused("is made from other sources", folder)
        self.pack()
        self.assertEqual(self.take(folder)[0], 0)
        self.refused("holds no wheel", self.cuda)

    def shell(self, **environment):
        write(os.path.join(self.root, "setup/wheels.txt"), "# none\n")
        shutil.copy(os.path.join(REPOSITORY, "setup/wheel.py"), os.path.join(self.root, "setup/wheel.py"))
        script = ('set -eu; GRADE_ROOT=$1 grade_cxx=$2 GRADE_CUDA_HOME=$3 GRADE_NVCC=$4 GRADE_CMAKE=$5\n'
                  'toolkit_dir=$1/.toolkit\n'
                  'progress() { echo "$*"; }\n. "$1/setup/wheel.sh"\ntake_wheel\n')
        ran = subprocess.run(["sh", "-c", script, "sh", self.root, self.cxx, self.cuda, self.nvcc, self.cmake],
                             capture_output=True, text=True, env={"PATH": os.environ["PATH"], **environment})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_where_the_launcher_looks(self):
        path = self.pack()
        self.assertEqual(self.shell(), "", "nothing is named, so nothing is said")
        self.assertIn("prebuilt grader: taken from", self.shell(GRADE_WHEEL=path))
        self.assertIn("names a launcher of yours", self.shell(GRADE_WHEEL=path, CMAKE_CXX_COMPILER_LAUNCHER="ccache"))
        self.assertIn("not taken, so it is built here", self.shell(GRADE_WHEEL="/none.whl"))
        os.makedirs(os.path.join(self.root, ".toolkit"))
        shutil.copy(path, os.path.join(self.root, ".toolkit"))
        self.assertIn("prebuilt grader: taken from", self.shell())
        self.assertEqual(self.shell(GRADE_WHEEL="none"), "")
        self.assertFalse(os.path.exists(os.path.join(self.root, "build/prebuilt")))


class RealCourse(Scratch):
    """The grader of this build, in a copy of the course that takes it."""

    TRIED = ["kit/CMakeFiles/warplings.kit.dir", "cli/CMakeFiles/grade.cli.dir", "lane_builds.programs.dir",
             "cold.dir/Unity/unity_decode_cxx.cxx.o"]

    def setUp(self):
        if BUILD is None:
            self.skipTest("needs --build")
        super().setUp()

    def make(self, name):
        out = os.path.join(self.place, name)
        subprocess.run([sys.executable, "-B", os.path.join(REPOSITORY, "setup/wheel.py"), "make", "--build", BUILD,
                        "--out", out], check=True, capture_output=True)
        return os.path.join(out, os.listdir(out)[0])

    def grade(self, program, *arguments):
        dropped = ("GRADE_", "CMAKE_", "NINJA_", "CXX", "CUDA")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        environment["GRADE_WHEEL"] = self.wheel
        ran = subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)
        return ran.returncode, self.without_times(ran.stdout), ran.stderr

    @staticmethod
    def without_times(verdict):
        verdict = re.sub(r'("(?:\w*seconds|milliseconds)": )[\d.e+-]+', r"\1", verdict)
        return re.sub(r" +[\d.]+ m?s\\n", r"\\n", verdict)  # the first line of the screen

    def test_packed_taken_and_compared(self):
        self.wheel = self.make("first")
        self.assertEqual(wheel.read(self.wheel), wheel.read(self.make("second")), "made twice")
        ignored = shutil.ignore_patterns("build", ".git", ".toolkit", ".data", ".kept", ".progress", ".clangd")
        shutil.copytree(REPOSITORY, self.root, symlinks=True, ignore=ignored)
        if os.path.isdir(os.path.join(REPOSITORY, ".toolkit/cuda")):
            os.makedirs(os.path.join(self.root, ".toolkit"))
            os.symlink(os.path.join(REPOSITORY, ".toolkit/cuda"), os.path.join(self.root, ".toolkit/cuda"))
        launcher = os.path.join(self.root, "grade")
        status, said, progress = self.grade(launcher, "run", "01/01")
        self.assertIn("prebuilt grader: taken from", progress)
        self.assertEqual(status, 1, said + progress)
        self.compare_objects()
        for exercise in ("01/01", "02/01"):
            here = subprocess.run([os.path.join(BUILD, "bin/grade"), "run", exercise, "--solution", "--json"],
                                  capture_output=True, text=True,
                                  env={"GRADE_NINJA": "ninja", **os.environ, "GRADE_ROOT": REPOSITORY})
            self.assertEqual(here.returncode, 0, here.stdout + here.stderr)
            self.assertEqual(self.grade(launcher, "run", exercise, "--solution", "--json")[:2],
                             (0, self.without_times(here.stdout)))

    def compare_objects(self):
        """Objects that were taken have the bits of what is compiled here."""
        build = os.path.join(self.root, "build/sim")
        commands = [c for c in json.loads(subprocess.run(["ninja", "-C", build, "-t", "compdb"], check=True,
                                                         capture_output=True).stdout)
                    if any(t in c["output"] for t in self.TRIED) and os.path.exists(os.path.join(build, c["output"]))]
        self.assertGreaterEqual(len(commands), len(self.TRIED))
        for command in commands:
            words = wheel.shlex.split(command["command"])
            words = words[words.index("sh") + 2:]
            words[words.index("-o") + 1] = other = os.path.join(self.place, "again.o")
            subprocess.run(words, cwd=build, check=True)
            self.assertEqual(wheel.read(other), wheel.read(os.path.join(build, command["output"])), command["output"])


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        BUILD = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
