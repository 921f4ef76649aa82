"""Tests of contracts.py: what breaks the rule is found, and what keeps it is not."""

import unittest

import contracts

HEADER = """// 09/99 Example: what the test calls.
#ifndef EXAMPLE_H_
#define EXAMPLE_H_

// y = 2 x, for x[0] .. x[n - 1]; nothing else changes.
//   d_x, d_y  n floats each
//   n         any size,
//             also 0
// Does not wait. Returns the first error.
void launch(const float* d_x, float* d_y, int n);
"""
SAID = ["y = 2 x, for x[0] .. x[n - 1]", "nothing else changes", "d_x, d_y n floats each", "n any size, also 0",
        "Does not wait", "Returns the first error"]


def test_with(*words):
    return "TEST(Example, Works) {\n" + "".join(f"  // contract: {w}\n" for w in words) + "}\n"


def found(test):
    return contracts.problems("99/99", HEADER, contracts.statements(HEADER), contracts.marks(test))


class Contracts(unittest.TestCase):
    def test_splits_a_header_into_statements(self):
        self.assertEqual(contracts.statements(HEADER), SAID)

    def test_accepts_marks_for_all_of_them(self):
        self.assertEqual(found(test_with(*SAID)), [])

    def test_accepts_some_words_of_a_statement_and_several_statements_at_once(self):
        self.assertEqual(found(test_with("y = 2 x", *SAID[1:4], "Does not wait. Returns the first error")), [])

    def test_finds_a_statement_without_a_mark(self):
        problems = found(test_with(*SAID[:-1]))
        self.assertEqual(len(problems), 1)
        self.assertIn('"Returns the first error"', problems[0])

    def test_finds_words_that_the_header_no_longer_says(self):
        problems = found(test_with(*SAID, "Waits for the device"))
        self.assertEqual(len(problems), 1)
        self.assertIn("does not say", problems[0])

    def test_finds_a_mark_outside_of_every_test(self):
        problems = found(test_with(*SAID) + "// contract: Does not wait\n")
        self.assertEqual(len(problems), 1)
        self.assertIn("outside of every test", problems[0])


if __name__ == "__main__":
    unittest.main()
