"""Shows that bars.py sees what it compares, and a number that has drifted."""

import unittest

import bars

TEST = """
  speed.against(kit::stage("01", one), kit::Bars(3.0, 4.0).modelled(2.0, 1.0));
  speed.against(kit::copy_rate(), kit::simulated() ? kit::Bars(0.5) : kit::Bars(0.45, 0.90));
"""


class Bars(unittest.TestCase):
    def wrong(self, clause):
        return bars.problems("here", clause, bars.bars_of(TEST))

    def test_reads_the_bars_of_a_test(self):
        everywhere, simulated = bars.bars_of(TEST)
        self.assertEqual(everywhere, {3, 4, 2, 1, 0.5, 0.45, 0.9})
        self.assertEqual(simulated, {2, 0.5})

    def test_takes_what_the_test_asks_for(self):
        for clause in ["3 times the speed of 01, modelled 2", "≥ 45 % of the copy rate or three times 01",
                       "twice the speed of 01, modelled", "three times 01 on a card, twice in the model",
                       "≥ 3×, gold 4×", "half of the copy rate, modelled"]:
            self.assertEqual(self.wrong(clause), [], clause)

    def test_finds_a_number_that_has_drifted(self):
        for clause in ["2.5 times the speed of 01", "3 times the speed of 01, modelled", "≥ 60 % of the copy rate",
                       "3 times the speed of 01, modelled 2.5", "≥ 3×, gold 5×", "a quarter of the copy rate"]:
            self.assertEqual(len(self.wrong(clause)), 1, clause)

    def test_finds_the_clauses(self):
        starter = "// 01/01 One.\n//   Bar: twice the speed of one,\n//        modelled.\n//\n//   Nothing is given.\n"
        self.assertEqual(bars.clauses_of_starter(starter), ["twice the speed of one, modelled.\n"])
        lesson = "## What must hold\n\n- Values.\n- Bar: half of the speed of CUB; 3 bytes. 4 more.\n\n## Next\n\n- 5 times\n"
        self.assertEqual(bars.clauses_of_lesson(lesson), ["Bar: half of the speed of CUB"])
        table = "| [01_one](01_one.cu) | [lesson](01_one.md) | all | 5 bytes; 3 times the speed of 00 | 20 |\n"
        self.assertEqual(bars.clauses_of_table(table, "01_one"), [" 3 times the speed of 00 "])


if __name__ == "__main__":
    unittest.main()
