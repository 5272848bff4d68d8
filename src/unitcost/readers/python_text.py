"""Lists and dictionaries as Python prints them, turned into JSON."""

from __future__ import annotations

import ast
import json


def json_of(text: str) -> str:
    """JSON of a literal that Python has printed; text that is JSON comes back as it is.

    Numbers keep each digit they are written with.

    Raises
    ------
    ValueError
        When the text is neither.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return text
    try:
        return _json(ast.parse(text.strip(), mode="eval").body, text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"{text[:80]!r} is neither JSON nor a list as Python prints it") from None


def _json(node: ast.expr, text: str) -> str:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return "[" + ", ".join(_json(item, text) for item in items) + "]"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return "{" + ", ".join(f"{_key(key)}: {_json(value, text)}" for key, value in pairs) + "}"
        case ast.Constant(value=bool() | None | str() as value):
            return json.dumps(value, ensure_ascii=False)
        case ast.Constant(value=int() | float()):
            return _number(node, text)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float()) as number):
            return "-" + _number(number, text)
        case ast.Call(args=[inner]):  # Decimal('0.5'), array([...])
            return _json(inner, text)
        case _:
            raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return json.dumps(node.value, ensure_ascii=False)
    raise ValueError("not a literal")


def _number(node: ast.expr, text: str) -> str:
    written = ast.get_source_segment(text, node) or ""
    json.loads(written)  # what JSON cannot say, such as 1_000, is refused
    return written
