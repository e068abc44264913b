"""Translates arithmetic, comparisons and conversions of PTX to C."""

from operands import BITS, C, Unknown, ctype, is_float, value

INTEGER = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
# Ordered comparisons; those with a `u` are true for NaN as well.
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
OPPOSITE = {"equ": "!=", "neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
FUNCTIONS = {
    "rcp": "1 / ({0})", "sqrt": "sqrt{f}({0})", "rsqrt": "1 / sqrt{f}({0})", "ex2": "exp2{f}({0})", "lg2": "log2{f}({0})",
    "sin": "sin{f}({0})", "cos": "cos{f}({0})", "tanh": "tanh{f}({0})", "abs": "fabs{f}({0})", "neg": "-({0})",
    "copysign": "copysign{f}({1}, {0})",
}
ROUNDED = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def compare(how, kind, a, b):
    if how in OPPOSITE and is_float(kind):
        return f"!(({a}) {OPPOSITE[how]} ({b}))"
    if how == "nan":
        return f"(isnan({a}) || isnan({b}))"
    if how == "num":
        return f"!(isnan({a}) || isnan({b}))"
    if how == "ne" and is_float(kind):
        return f"(({a}) < ({b}) || ({a}) > ({b}))"
    return f"(({a}) {COMPARE[how]} ({b}))"


def convert(parts, to, source, x):
    """`cvt`."""
    rounding = next((ROUNDED[part] for part in parts if part in ROUNDED), None)
    if is_float(source) and not is_float(to):
        wide = f"{rounding or 'trunc'}((double)({x}))"
        low = f"-0x1p{BITS[to] - 1}" if to[0] == "s" else "0.0"
        high = f"0x1p{BITS[to] - (to[0] == 's')}"
        least, most = (f"INT{BITS[to]}_MIN", f"INT{BITS[to]}_MAX") if to[0] == "s" else ("0", f"UINT{BITS[to]}_MAX")
        return f"saturated({wide}, {low}, {high}, {ctype(to)}, {least}, {most})"
    if is_float(to) and rounding:
        return f"{rounding}((double)({x}))"
    if is_float(to) and "sat" in parts:
        return f"fmin(fmax((double)({x}), 0), 1)"
    if to == "f32" and any(part in parts for part in ("rz", "rm", "rp")) and source != "f32":
        return f"directed((double)({x}), '{next(part for part in parts if part in ('rz', 'rm', 'rp'))[1]}')"
    return x


def arithmetic(head, parts, kind, get, set_, statement):
    if is_float(kind):
        f = "" if kind == "f64" else "f"
        if head in INTEGER and head in ("add", "sub"):
            done = f"{get(1)} {INTEGER[head]} {get(2)}"
            return set_(f"fmin(fmax({done}, 0), 1)" if "sat" in parts else done)
        if head == "mul":
            return set_(f"{get(1)} * {get(2)}")
        if head == "div":
            return set_(f"{get(1)} / {get(2)}")
        if head in ("fma", "mad"):
            # Half-precision products are exact in a double, and so are nearly all sums.
            return set_(f"fma{f}({get(1)}, {get(2)}, {get(3)})" if BITS[kind] > 16 else f"fma((double){get(1)}, {get(2)}, {get(3)})")
        if head in ("min", "max"):
            least = f"f{head}{f}({get(1)}, {get(2)})"
            return set_(f"isnan({get(1)}) || isnan({get(2)}) ? NAN : {least}" if "NaN" in parts else least)
        if head in FUNCTIONS:
            return set_(FUNCTIONS[head].format(get(1), get(2) if head == "copysign" else "", f=f))
        raise Unknown(statement)
    if kind == "pred":
        done = {"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "!{0}"}.get(head)
        return set_(done.format(get(1), get(2) if head != "not" else ""))
    unsigned = "u" + kind[1:]
    wide = f"{kind[0]}{2 * BITS[kind]}" if BITS[kind] < 64 else kind
    if head in INTEGER:
        return set_(f"{get(1, unsigned)} {INTEGER[head]} {get(2, unsigned)}", unsigned)
    if head in ("mul", "mad"):
        plus = f" + {get(3, unsigned)}" if head == "mad" else ""
        if "wide" in parts:
            product = f"({ctype(wide)}){get(1)} * ({ctype(wide)}){get(2)}"
            return set_(product + (f" + {get(3, wide)}" if head == "mad" else ""), wide)
        if "hi" in parts:
            return set_(f"high_{kind[0]}{BITS[kind]}({get(1)}, {get(2)}){plus}")
        return set_(f"(uint64_t){get(1, unsigned)} * {get(2, unsigned)}{plus}", unsigned)
    if head in ("div", "rem"):
        sign = "/" if head == "div" else "%"
        return set_(f"{get(2)} == 0 ? ({ctype(kind)})-1 : {get(1)} {sign} {get(2)}")
    if head in ("min", "max"):
        return set_(f"{get(1)} {'<' if head == 'min' else '>'} {get(2)} ? {get(1)} : {get(2)}")
    if head == "shl":
        return set_(f"{get(2, 'u32')} >= {BITS[kind]} ? 0 : {get(1, unsigned)} << {get(2, 'u32')}")
    if head == "shr":
        most = BITS[kind] - 1
        return set_(f"{get(1)} >> ({get(2, 'u32')} > {most} ? {most} : {get(2, 'u32')})" if kind[0] == "s"
                    else f"{get(2, 'u32')} > {most} ? 0 : {get(1)} >> {get(2, 'u32')}")
    if head == "not":
        return set_(f"~{get(1)}")
    if head == "neg":
        return set_(f"-{get(1)}")
    if head == "abs":
        return set_(f"{get(1)} < 0 ? -{get(1)} : {get(1)}")
    if head == "popc":
        return set_(f"__builtin_popcountll({get(1)})", "u32")
    if head == "clz":
        return set_(f"leading_zeros({get(1)}, {BITS[kind]})", "u32")
    if head == "bfi":
        return set_(f"inserted({get(1)}, {get(2)}, {get(3, 'u32')}, {get(4, 'u32')}, {BITS[kind]})")
    if head == "prmt":
        return set_(f"permuted({get(1)}, {get(2)}, {get(3)})")
    raise Unknown(statement)


def carried(head, parts, kind, get, set_, statement):
    """32-bit additions with carry."""
    if kind not in ("u32", "s32", "b32"):
        raise Unknown(statement)
    kind = "u32"
    before = "self->carry" if head.endswith("c") else "0"
    if head.startswith("mad"):
        product = f"high_u32({get(1, kind)}, {get(2, kind)})" if "hi" in parts else f"(uint32_t)({get(1, kind)} * {get(2, kind)})"
        total = f"(uint64_t){product} + {get(3, kind)} + {before}"
    elif head.startswith("add"):
        total = f"(uint64_t){get(1, kind)} + {get(2, kind)} + {before}"
    else:
        total = f"(uint64_t){get(1, kind)} - {get(2, kind)} - {before}"
    carry = "self->carry = (total >> 32) & 1;" if "cc" in parts else ""
    return f"{{ uint64_t total = {total}; {set_('total', kind)} {carry} }}"


def pairwise(head, parts, kind, operands, addresses, needed, statement):
    """Two half-precision numbers in one register."""
    one = kind.removesuffix("x2")
    halves = []
    for shift in (0, 16):
        get = lambda index, as_kind=None, shift=shift: (
            f"{'float_of_half' if one == 'f16' else 'float_of_bfloat'}((uint16_t)({value(operands[index], 'b32', addresses)} >> {shift}))"
        )
        halves.append(arithmetic(head, parts, one, get, lambda e, _=None: f"{'half_of' if one == 'f16' else 'bfloat_of'}({e})", statement))
    return f"{C(operands[0])} = (uint32_t){halves[0]} | ((uint32_t){halves[1]} << 16);"
