"""What `grade view` records: five questions that its data answer, and the figures of the profile."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
import xml.dom.minidom

import graded


def lanes_of(mask):
    return [lane for lane in range(32) if mask >> lane & 1]


def offsets(sample):
    """Byte offsets of the active lanes."""
    first, rest = sample[6], sample[7:]
    lanes = lanes_of(sample[3])
    if isinstance(first, list):
        return dict(zip(lanes, first))
    return {lane: first + lane * rest[0] for lane in lanes}


class Questions(unittest.TestCase):
    def run_of(self, which):
        return graded.data_of(graded.question(which))["run"]

    def test_which_lane_reads_outside(self):
        finding, = [f for f in self.run_of("outside")["findings"] if not f["note"]]
        scene = finding["scene"]
        outside = [lane for lane in lanes_of(scene["mask"])
                   if not 0 <= scene["asked"][lane] <= scene["array_bytes"] - scene["bytes"]]
        self.assertEqual(finding["kind"], "out-of-bounds-global-read")
        self.assertEqual(outside, [31])
        self.assertEqual(scene["array_bytes"], 256)
        self.assertEqual(scene["parties"][0]["block"], [1, 0, 0])

    def test_which_bank_all_lanes_want(self):
        kernel, = self.run_of("bank")["profile"]["kernels"]
        site, = [s for s in kernel["view"]["sites"] if s["kind"] == "shared load"]
        sample = site["samples"][0]
        banks = {offset // 4 % 32 for offset in offsets(sample).values()}
        self.assertEqual(banks, {3})
        self.assertEqual(sample[4], 32)  # passes

    def test_which_barrier_misses_whom(self):
        run = self.run_of("barrier")
        finding, = [f for f in run["findings"] if not f["note"]]
        self.assertEqual(finding["kind"], "barrier-deadlock")
        line = next(n for n, text in enumerate(graded.QUESTIONS.read_text().splitlines(), 1)
                    if "__syncthreads();" in text and n > 20)
        there = [p for p in finding["scene"]["parties"] if p["line"] == line]
        self.assertEqual([p["warp"] for p in there], [0])
        elsewhere = [p["warp"] for p in finding["scene"]["parties"] if p["line"] != line]
        self.assertEqual(elsewhere, [1])
        wrong, = run["wrong"]
        forever = [step for step in wrong["view"]["steps"]["steps"] if step[0] == 2]
        self.assertEqual({step[1] for step in forever}, {0, 1})
        self.assertTrue(wrong["view"]["steps"]["wrong"])

    def test_which_two_accesses_race(self):
        findings = [f for f in self.run_of("race")["findings"] if f["check"] == "racecheck"]
        self.assertTrue(findings)
        first, second = findings[0]["scene"]["parties"]
        self.assertEqual({first["does"], second["does"]}, {"reads", "writes"})
        self.assertNotEqual(first["warp"], second["warp"])
        self.assertTrue(findings[0]["scene"]["shared"])

    def test_which_copy_does_not_overlap(self):
        items = self.run_of("copies")["timeline"]["items"]
        kernels = [(i["start"], i["end"]) for i in items if i["kind"] == "kernel"]
        self.assertEqual(len(kernels), 16)
        alone = [i for i in items if i["kind"].startswith("copy") and
                 all(end <= i["start"] or start >= i["end"] for start, end in kernels)]
        self.assertEqual([i["kind"] for i in alone], ["copy to device", "copy to host"])
        self.assertEqual(alone[1]["stream"], "the default stream")
        beside = [i for i in items if i["kind"] == "copy to device" and i not in alone]
        self.assertEqual([i["stream"] for i in beside], ["stream 2"])

    def test_shared_memory_is_followed(self):
        kernel, = self.run_of("race")["profile"]["kernels"]
        stores = kernel["view"]["steps"]["stores"]
        values = {}
        for store in stores:
            pairs = store[4]
            values.update(zip(pairs[::2], pairs[1::2]))
        self.assertEqual(values, {4 * i: i for i in range(64)})


class Pipeline(unittest.TestCase):
    """07/16 fills four stages and multiplies them: 17 steps of k."""
    RUN = ("07_tiled_matmul/16_matmul_wgmma", "--solution", "--case", "GoesAlongTheWholeOfK")
    STAGE = (128 * 64 + 64 * 256) * 2  # bytes
    STEPS, STAGES = 17, 4

    @classmethod
    def setUpClass(cls):
        kernel, = [k for k in graded.data_of(graded.page(*cls.RUN))["run"]["profile"]["kernels"]
                   if "matmul_wgmma" in k["name"]]
        cls.view = kernel["view"]
        cls.pipeline = cls.view["steps"]["pipeline"]
        variable = {v["name"]: v["offset"] for v in cls.view["variables"]}
        cls.full = [variable["full"] + 8 * i for i in range(cls.STAGES)]
        cls.empty = [variable["empty"] + 8 * i for i in range(cls.STAGES)]

    def test_each_phase_of_full_counts_the_bytes_of_a_stage(self):
        self.assertFalse(self.pipeline["cut"])
        bytes_of = {}
        for kind, _, start, end, _, size, barrier, phase, *_ in self.pipeline["flights"]:
            if kind != 0:
                continue
            self.assertLess(start, end)
            bytes_of[barrier, phase] = bytes_of.get((barrier, phase), 0) + size
        self.assertEqual(set(bytes_of.values()), {self.STAGE})
        self.assertEqual(len(bytes_of), self.STEPS)
        self.assertEqual({barrier for barrier, _ in bytes_of}, set(self.full))

    def test_phases_follow_each_other(self):
        for barrier in self.full + self.empty:
            spans = sorted(p[1:] for p in self.pipeline["phases"] if p[0] == barrier)
            for (number, start, end), (after, begins, _) in zip(spans, spans[1:]):
                self.assertEqual((after, begins), (number + 1, end))
                self.assertLessEqual(start, end)

    def test_who_waits_for_which(self):
        consumers = {w[4] for w in self.pipeline["waits"] if w[0] < 8}
        producer = {w[4] for w in self.pipeline["waits"] if w[0] == 8}
        self.assertTrue(consumers and consumers <= set(self.full))
        self.assertTrue(producer and producer <= set(self.empty))
        for warp, _, start, end, barrier, phase, *_ in self.pipeline["waits"]:
            ended, = [p[3] for p in self.pipeline["phases"] if p[:2] == [barrier, phase]]
            self.assertEqual(end, ended, f"warp {warp} from step {start}")

    def test_products_are_under_way_while_copies_are(self):
        copies = [f[2:4] for f in self.pipeline["flights"] if f[0] == 0]
        products = [f for f in self.pipeline["flights"] if f[0] == 2]
        self.assertEqual({f[1] for f in products}, {0, 4})
        self.assertEqual(sum(f[8] for f in products), 2 * 4 * self.STEPS)
        beside = [p for p in products if any(s < p[3] and p[2] < e for s, e in copies)]
        self.assertGreater(len(beside), len(products) // 2)

    def test_text_and_picture(self):
        text = graded.grade("view", *self.RUN, "--text")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertRegex(text, r"warp 8 waits for empty\[0\] \d+ times?, \d+ steps? in all")
        drawn = graded.grade("view", *self.RUN, "--svg", "pipeline")
        self.assertIn(">full[3]<", drawn)
        self.assertTrue(xml.dom.minidom.parseString(drawn).getElementsByTagName("desc"))


class Exercises(unittest.TestCase):
    EXERCISE = "03_memory_model/05_transpose_tile"

    def test_figures_are_those_of_the_profile(self):
        profile = json.loads(graded.grade("profile", self.EXERCISE, "--solution", "--json"))
        view = graded.data_of(graded.page(self.EXERCISE, "--solution"))["run"]["profile"]
        for kernel in view["kernels"]:
            del kernel["view"]
        self.assertEqual(view["kernels"], profile["kernels"])

    def test_sites_add_up_to_the_counters(self):
        kernel, = graded.data_of(graded.page(self.EXERCISE, "--solution"))["run"]["profile"]["kernels"]
        for kind, counter in [("global load", "global_load_requests"),
                              ("shared load", "shared_load_requests"),
                              ("shared store", "shared_store_requests"),
                              ("global store", "global_store_requests")]:
            executions = sum(s["executions"] for s in kernel["view"]["sites"] if s["kind"] == kind)
            self.assertEqual(executions, kernel["totals"][counter])

    def test_the_timeline_is_of_what_the_file_did(self):
        """And not of the copies with which the test fills its arrays."""
        items = graded.data_of(graded.page(self.EXERCISE, "--solution"))["run"]["timeline"]["items"]
        self.assertIn("kernel", [i["kind"] for i in items])
        self.assertTrue(all(i["line"] for i in items), items)

    def test_samples_are_bounded_and_say_which(self):
        kernel, = graded.data_of(graded.page(self.EXERCISE, "--solution"))["run"]["profile"]["kernels"]
        for site in kernel["view"]["sites"]:
            numbers = [sample[0] for sample in site["samples"]]
            self.assertLessEqual(len(numbers), 20)
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertLess(numbers[-1], site["executions"])
            self.assertGreater(numbers[-1], site["executions"] // 2)  # spread to the end

    def test_the_page_asks_for_nothing(self):
        text = graded.page(self.EXERCISE, "--solution").read_text(encoding="utf-8")
        self.assertLess(len(text), 3_000_000)
        self.assertIsNone(re.search(r'(src|href)="(?!#|data:)', text))
        self.assertEqual(text.count("</script>"), 2)

    def test_text_fits_the_terminal_and_shows_memory_block_and_steps(self):
        for columns in (80, 60):
            text = graded.grade("view", self.EXERCISE, "--solution", "--text", columns=columns)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
            self.assertIn("32 passes through the banks", text)
            self.assertIn("Block (0, 0, 0) over", text)
            steps = text[text.index("Step by step"):]
            self.assertIn("thread 31:", steps)
            self.assertRegex(steps, r"and \d+ more steps")
            self.assertIn(f"./grade trace {self.EXERCISE}", steps)

    def test_text_traces_what_is_chosen_whole(self):
        text = graded.grade("view", self.EXERCISE, "--solution", "--text", "--thread", "33")
        steps = text[text.index("Step by step"):]
        self.assertIn("warp 1 of 8", steps)
        self.assertNotIn("more steps", steps)
        trace = graded.grade("trace", self.EXERCISE, "--solution", "--thread", "33")
        self.assertIn(trace.split("\n", 1)[1], steps)

    def test_text_of_a_program_is_traced_too(self):
        text = graded.grade("view", "--text", "--", str(graded.QUESTIONS), "bank")
        self.assertIn("Step by step", text)
        self.assertIn("tile[", text[text.index("Step by step"):])

    def test_pictures(self):
        drawn = graded.grade("view", self.EXERCISE, "--solution", "--svg", "banks:39")
        self.assertTrue(drawn.startswith("<svg "))
        self.assertIn("32 passes through the banks", drawn)
        again = graded.grade("view", self.EXERCISE, "--solution", "--svg", "banks:39")
        self.assertEqual(drawn, again)
        for name in ["banks:39", "lens:22", "block", "time"]:
            drawn = graded.grade("view", self.EXERCISE, "--solution", "--svg", name)
            self.assertTrue(xml.dom.minidom.parseString(drawn).getElementsByTagName("desc"), name)

    def test_a_picture_that_there_is_not(self):
        for option in ("--svg", "--png"):
            with self.assertRaisesRegex(AssertionError, f"{option}.*a picture is lens:LINE"):
                graded.grade("view", self.EXERCISE, "--solution", option, "nothing")

    @unittest.skipUnless(shutil.which("chromium"), "needs chromium")
    def test_png_is_the_picture_at_twice_its_size(self):
        drawn = graded.grade("view", self.EXERCISE, "--solution", "--svg", "time")
        wide, high = (int(float(re.search(rf' {side}="([0-9.]+)"', drawn).group(1)))
                      for side in ("width", "height"))
        file = graded.grade("view", self.EXERCISE, "--solution", "--png", "time").strip()
        data = pathlib.Path(file).read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (2 * wide, 2 * high))

    def test_serve_answers_here_only_and_ends_with_control_c(self):
        served = subprocess.Popen([graded.GRADE, "view", self.EXERCISE, "--serve"], cwd=graded.ROOT,
                                  stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", served.stdout.readline()).group(0)
            with urllib.request.urlopen(address, timeout=20) as answer:
                self.assertIn('id="data"', answer.read().decode())
            with urllib.request.urlopen(address + "version", timeout=20) as answer:
                self.assertEqual(answer.read(), b"1")
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(address + "etc/passwd", timeout=20)
            self.assertEqual(refused.exception.code, 404)
            refused.exception.close()
        finally:
            served.send_signal(signal.SIGINT)
            served.communicate(timeout=20)
        self.assertEqual(served.returncode, 0)

    def test_trace(self):
        file = graded.ROOT / "build" / "sim" / "view" / "trace.json"
        graded.grade("view", "--chrome-trace", str(file), "--", str(graded.QUESTIONS), "copies")
        events = json.loads(file.read_text())["traceEvents"]
        self.assertEqual(sum(e["cat"] == "kernel" for e in events), 16)


class Cost(unittest.TestCase):
    SIDE = 224  # of a product; at 512 the ratio is nearly the same, and a run takes ten times as long

    def test_recording_costs_at_most_twice_a_checked_run(self):
        """In processor time, the least of three runs each, taken in turns: what else the machine does
        hardly counts."""
        graded.grade("exec", str(graded.PRODUCT), "16")  # compiles it
        checked, recorded = [], []
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "view.json"
            for _ in range(3):
                checked.append(self.seconds({}))
                recorded.append(self.seconds({"GRADE_SIM_VIEW": str(file)}))
            launch, = json.loads(file.read_text())["profile"]["kernels"]
        self.assertEqual(launch["totals"]["global_store_bytes"], 4 * self.SIDE * self.SIDE)
        self.assertTrue(launch["view"]["sites"])
        ratio = min(recorded) / min(checked)
        print(f"recording costs {ratio:.2f} times a checked run")
        self.assertLess(ratio, 2, f"{recorded} to {checked}")

    def seconds(self, variables):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([graded.GRADE, "exec", str(graded.PRODUCT), str(self.SIDE)], check=True,
                       capture_output=True, cwd=graded.ROOT, timeout=120,
                       env={**os.environ, **variables})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(getattr(after, name) - getattr(before, name)
                   for name in ("ru_utime", "ru_stime"))


class Versions(unittest.TestCase):
    """What the last two views compare with: the reference, and versions before."""

    def setUp(self):
        self.course = graded.Course()
        self.addCleanup(self.course.close)

    def look(self):
        return graded.data_of(graded.page(self.course.ID, root=self.course.root))

    def totals(self, run):
        kernel, = [k for k in run["kernels"] if k["name"] == "vector_add"]
        return kernel["totals"]

    def test_a_version_is_compared_with_those_before_and_the_reference_after_a_pass(self):
        self.course.save(*graded.SLOWER)
        first = self.look()
        self.assertEqual(first["history"], {"runs": [], "unseen": []})
        self.assertIsNone(first["reference"])
        self.course.save("a[i] + b[i]", "a[i] - b[i]")
        second = self.look()
        self.assertEqual([(r["name"], r["passed"]) for r in second["history"]["runs"]],
                         [("run 1", True)])
        self.course.save()
        self.course.passed()
        third = self.look()
        self.assertEqual([(r["name"], r["passed"]) for r in third["history"]["runs"]],
                         [("run 1", True), ("run 2", False)])
        self.assertEqual(self.totals(third["history"]["runs"][0]["run"]),
                         self.totals(first["run"]["profile"]))
        profile = json.loads(graded.grade("profile", self.course.ID, "--solution", "--json",
                                          root=self.course.root))
        self.assertEqual(self.totals(third["reference"]), self.totals(profile))
        self.assertEqual(self.totals(third["run"]["profile"]), self.totals(profile))
        self.assertGreater(self.totals(first["run"]["profile"])["warp_instructions"],
                           self.totals(profile)["warp_instructions"])
        # The same version again is not another one.
        self.assertEqual(self.look()["history"], third["history"])

    def test_copies_that_are_kept_are_called_by_their_numbers(self):
        self.course.save(*graded.SLOWER)
        self.look()
        graded.grade("reset", self.course.ID, "--yes", root=self.course.root)
        kept, = (self.course.root / ".kept").rglob("*.cu")
        kept.with_name("01_vector_add.2.cu").write_text(self.course.solution)  # as reset keeps them
        self.course.save("c[i] = a[i] + b[i];", "c[i] = b[i] + a[i];")
        history = self.look()["history"]
        self.assertEqual([r["name"] for r in history["runs"]], ["copy 1"])
        self.assertEqual(history["unseen"], [2])
        # What the page says of such a copy.
        graded.grade("restore", self.course.ID, "2", root=self.course.root)
        history = self.look()["history"]
        self.assertEqual([r["name"] for r in history["runs"]], ["copy 1", "copy 3"])
        self.assertEqual(history["unseen"], [])

    def test_the_last_version_that_passed_is_never_forgotten(self):
        self.course.save()
        self.look()
        runs, = (self.course.root / ".kept").rglob("*.runs")
        line = runs.read_text().split(" ", 3)
        runs.write_text(runs.read_text() + "".join(
            f"{number:032x} {number} failed {line[3]}" for number in range(2, 12)))
        self.course.save("a[i] + b[i]", "a[i] - b[i]")
        kept = self.look()["history"]["runs"]
        self.assertEqual([r["name"] for r in kept], ["run 1"] + [f"run {n}" for n in range(7, 12)])
        self.assertEqual([r["passed"] for r in kept], [True] + 5 * [False])


if __name__ == "__main__":
    unittest.main()
