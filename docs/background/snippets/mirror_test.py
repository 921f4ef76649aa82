import ctypes
import unittest

FLOATS = ctypes.c_float * 32


class Mirror(unittest.TestCase):
    def test_turns_a_group_around(self):
        numbers, turned = FLOATS(*range(32)), FLOATS()
        library = ctypes.CDLL("./libmirror.so")
        self.assertEqual(library.mirror_groups(numbers, turned, 1), 0)
        self.assertEqual(list(turned), list(range(31, -1, -1)))


if __name__ == "__main__":
    unittest.main()
