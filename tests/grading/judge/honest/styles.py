"""Answers in many styles: what stands in the cell that defines an exercise's function."""

import ast
import re
import textwrap

from dpcourse.base.cells import BEGIN


def on_answers(edit):
    """An edit of each cell that defines an exercise's function: edit(code, function) gives code."""

    def edited(cells, lesson):
        found = []
        for cell in cells:
            mine = [name for name in lesson.functions if f"def {name}(" in cell["source"]]
            found.append(cell | {"source": edit("".join(cell["source"]), mine[0])} if mine else cell)
        return found

    return edited


def behind(text):
    """The answer under another name, and then this, in which MINE is that name and NAME its own."""

    def edit(code, name):
        mine = code.replace(f"def {name}(", f"def mine_{name}(")
        return f"{mine}\n\n\n{textwrap.dedent(text).strip()}\n".replace("MINE", f"mine_{name}").replace("NAME", name)

    return on_answers(edit)


def above(text):
    """Lines above the definition."""
    return on_answers(lambda code, name: f"{text}\n{code}".replace("NAME", name))


def first_in_the_body(text):
    """Lines at the beginning of the body of each answer."""
    return on_answers(lambda code, name: code.replace(f"    {BEGIN}\n", f"{textwrap.indent(text, '    ')}\n", 1))


def annotated(code, name):
    """Each parameter with a type."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.returns = ast.Constant("float")
            for argument in node.args.args:
                argument.annotation = ast.Name("float" if argument.arg == "epsilon" else "object")
    return ast.unparse(ast.fix_missing_locations(tree))


def other_parameters(code, name):
    """Each parameter of the answer under another name."""
    tree = ast.parse(code)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    for argument in [each.arg for each in function.args.args]:
        code = re.sub(rf"(?<![\w.]){argument}\b(?!\s*=[^=])", f"{argument}_", code)
    return code


EDITS = {
    "as it is": on_answers(lambda code, name: code),
    "a name given later": behind("NAME = MINE"),
    "an object that is called": behind("""
        class Answer:
            def __call__(self, *arguments):
                return MINE(*arguments)

        NAME = Answer()
    """),
    "a partial": behind("import functools\nNAME = functools.partial(MINE)"),
    "a lambda": behind("NAME = lambda *all: MINE(*all)"),
    "decorated": above(
        "import functools\ndef told(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n@told"
    ),
    "cached": above("import functools\n@functools.cache"),
    "a static method": behind("class Answers:\n    NAME = staticmethod(MINE)\nNAME = Answers.NAME"),
    "a method": behind("class Answers:\n    def NAME(self, *all):\n        return MINE(*all)\nNAME = Answers().NAME"),
    "types": on_answers(annotated),
    "without docstrings": on_answers(lambda code, name: re.sub(r'    """.*?"""\n', "", code, flags=re.DOTALL)),
    "from text": on_answers(lambda code, name: f"exec({code!r})"),
    "under a condition": on_answers(lambda code, name: "if 1 < 2:\n" + textwrap.indent(code, "    ")),
    "in a try": on_answers(lambda code, name: "try:\n" + textwrap.indent(code, "    ") + "\nfinally:\n    pass"),
    "made by a function": on_answers(
        lambda code, name: f"def make():\n{textwrap.indent(code, '    ')}\n    return {name}\n\n{name} = make()"
    ),
    "other parameters": on_answers(other_parameters),
    "prints on the way": first_in_the_body('print("begun", 1)'),
    "a walrus": first_in_the_body("if (seen := 1):\n    seen += 1"),
    "warns": first_in_the_body("import warnings\nwarnings.warn('careful')"),
    "threads": first_in_the_body(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n    list(pool.map(abs, [1, 2]))"
    ),
    "a comment in Chinese": first_in_the_body("# 这里是答案\n答案 = 1  # 中文标识符"),
    "an error below": on_answers(lambda code, name: f"{code}\nprint(nothing_of_that_name)"),
    "timed": on_answers(lambda code, name: f"%%time\n{code}"),
    "captured": on_answers(lambda code, name: f"%%capture shown\n{code}"),
    "awaited": on_answers(lambda code, name: f"import asyncio\n{code}\nawait asyncio.sleep(0)"),
    "tried at once": on_answers(
        lambda code, name: f"{code}\ntry:\n    {name}()\nexcept TypeError as error:\n    print(error)"
    ),
}
