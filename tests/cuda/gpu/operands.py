"""Translates operands of PTX to C: names, constants, registers, addresses.

Registers are unsigned integers of their width; floats are converted from and to their bits. Addresses in shared memory are offsets, all others are
pointers.
"""

import re

BITS = {f"{kind}{width}": width for kind in "bus" for width in (8, 16, 32, 64)}
BITS |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "pred": 8, "f16x2": 32, "bf16x2": 32}
SPECIAL = {"tid": "thread", "ntid": "threads", "ctaid": "block", "nctaid": "blocks"}
AXES = {"x": 0, "y": 1, "z": 2}


class Unknown(Exception):
    """An instruction that cannot be translated."""


def split(text):
    """Splits a text at the commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + [part.strip()] if part.strip() else parts


def C(name):
    """A name of PTX as a name of C."""
    return name.replace("$", "S_").replace("%", "R_").replace(".", "_")


def ctype(kind):
    """The type of C for computing with this type."""
    if kind in ("f16", "bf16", "f32"):
        return "float"
    if kind == "f64":
        return "double"
    if kind == "pred":
        return "uint8_t"
    return ("int" if kind[0] == "s" else "uint") + f"{BITS[kind]}_t"


def is_float(kind):
    return kind in ("f16", "bf16", "f32", "f64")


def value(operand, kind, addresses):
    """An operand as an expression of C, in the C type for `kind`."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", operand):
        return f"float_of(0x{operand[2:]}u)"
    if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", operand):
        return f"double_of(0x{operand[2:]}ull)"
    special = re.fullmatch(r"%(n?tid|n?ctaid)\.([xyz])", operand)
    if special:
        return f"({ctype(kind)})self->{SPECIAL[special[1]]}[{AXES[special[2]]}]"
    if operand == "%laneid":
        return "self->lane"
    if operand == "WARP_SZ":
        return "32"
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", operand):
        number = f"{operand.rstrip('U')}"
        return f"({ctype(kind)})({number}ull)" if not number.startswith("-") else f"({ctype(kind)})({number}ll)"
    if operand in addresses:
        return addresses[operand]
    if not operand.startswith("%"):
        return f"DYNAMIC_{C(operand)}" if re.fullmatch(r"[$\w]+", operand) and kind.startswith(("u", "b", "s")) else C(operand)
    return {"f16": f"float_of_half({C(operand)})", "bf16": f"float_of_bfloat({C(operand)})", "f32": f"float_of({C(operand)})",
            "f64": f"double_of({C(operand)})"}.get(kind, f"({ctype(kind)}){C(operand)}")


def put(register, kind, expression):
    """Assigns an expression of this type to a register."""
    if register == "_":
        return f"(void)({expression});"
    wrap = {"f16": "half_of({})", "bf16": "bfloat_of({})", "f32": "bits_of((float)({}))", "f64": "bits_of_double((double)({}))"}.get(kind)
    return f"{C(register)} = {wrap.format(expression) if wrap else f'({ctype(kind)})({expression})'};"


def address(operand, space, addresses):
    """`[register + offset]` as a pointer."""
    base, _, offset = re.fullmatch(r"\[\s*([^+\]\s]+)\s*(\+\s*(-?\w+))?\s*\]", operand).groups()
    start = value(base, "u64", addresses) if base.startswith("%") else addresses.get(base, f"DYNAMIC_{C(base)}")
    target = f"({start}) + ({offset or 0})"
    return f"shared + (uint32_t)({target})" if space == "shared" else f"(uint8_t *)(uintptr_t)({target})"
