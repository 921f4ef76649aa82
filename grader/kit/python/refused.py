"""What a learner's file may not do: look into the grader or change it. docs/integrity.md says what
such a list cannot keep."""

import ast

_MODULES = {
    "__main__", "_pytest", "builtins", "channel", "gc", "inspect", "kit", "launches", "pytest",
    "refused", "run", "speed", "tensors",
}  # fmt: skip
_ATTRIBUTES = {
    "__builtins__", "__globals__", "__subclasses__", "_current_frames", "_getframe", "cr_frame",
    "f_back", "f_builtins", "f_globals", "f_locals", "gi_frame", "import_module", "modules",
    "setprofile", "settrace", "tb_frame",
}  # fmt: skip
_NAMES = {"__builtins__", "__import__", "eval", "exec"}
_TEXTS = {"__builtins__", "__globals__", "_getframe", "kit"}  # for getattr() and others


def _what(node):
    if isinstance(node, ast.Import):
        found = [name.name for name in node.names if name.name.split(".")[0] in _MODULES]
        return "import " + found[0] if found else None
    if isinstance(node, ast.ImportFrom):
        module = (node.module or "").split(".")[0]
        found = [name.name for name in node.names if name.name in _ATTRIBUTES]
        if module in _MODULES or found:
            return f"from {node.module} import {(found or [name.name for name in node.names])[0]}"
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        return "." + node.attr
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _TEXTS:
        return f'"{node.value}"'
    return None


def first(source, name):
    """(line, what) of the first thing that is refused in a file, None if there is nothing."""
    for node in ast.walk(ast.parse(source, name)):
        what = _what(node)
        if what:
            return node.lineno, what
    return None
