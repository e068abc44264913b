"""Owns what each instruction of PTX does, as C. Must not know how PTX is read.

Registers are unsigned integers of their width, whatever they hold; floats are taken out of them and put back bit by bit. Addresses in
shared memory are offsets, all others are the processor's own.
"""

import re

BITS = {f"{kind}{width}": width for kind in "bus" for width in (8, 16, 32, 64)}
BITS |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "pred": 8, "f16x2": 32, "bf16x2": 32}
SPECIAL = {"tid": "thread", "ntid": "threads", "ctaid": "block", "nctaid": "blocks"}
AXES = {"x": 0, "y": 1, "z": 2}
INTEGER = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
# Of ordered comparisons; a `u` behind them adds what cannot be compared.
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
OPPOSITE = {"equ": "!=", "neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
FUNCTIONS = {
    "rcp": "1 / ({0})", "sqrt": "sqrt{f}({0})", "rsqrt": "1 / sqrt{f}({0})", "ex2": "exp2{f}({0})", "lg2": "log2{f}({0})",
    "sin": "sin{f}({0})", "cos": "cos{f}({0})", "tanh": "tanh{f}({0})", "abs": "fabs{f}({0})", "neg": "-({0})",
    "copysign": "copysign{f}({1}, {0})",
}
ROUNDED = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


class Unknown(Exception):
    """An instruction that is not known."""


def C(name):
    """A name of PTX as one of C."""
    return name.replace("$", "S_").replace("%", "R_").replace(".", "_")


def ctype(kind):
    """The type of C that numbers of this type are computed in."""
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
    """An operand as C, of the type's own type of C."""
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
    """Puts an expression of that type into a register."""
    if register == "_":
        return f"(void)({expression});"
    wrap = {"f16": "half_of({})", "bf16": "bfloat_of({})", "f32": "bits_of((float)({}))", "f64": "bits_of_double((double)({}))"}.get(kind)
    return f"{C(register)} = {wrap.format(expression) if wrap else f'({ctype(kind)})({expression})'};"


def address(operand, space, addresses):
    """The place `[register + offset]` names, as a pointer."""
    base, _, offset = re.fullmatch(r"\[\s*([^+\]\s]+)\s*(\+\s*(-?\w+))?\s*\]", operand).groups()
    start = value(base, "u64", addresses) if base.startswith("%") else addresses.get(base, f"DYNAMIC_{C(base)}")
    place = f"({start}) + ({offset or 0})"
    return f"shared + (uint32_t)({place})" if space == "shared" else f"(uint8_t *)(uintptr_t)({place})"


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


def translate(statement, addresses, needed):
    """An instruction as C. Functions that it calls are added to `needed`."""
    from ptx import split

    guard = re.match(r"@(!?)(%\w+)\s+", statement)
    rest = statement[guard.end() :] if guard else statement
    condition = f"if ({guard[1]}{C(guard[2])}) " if guard else ""
    name, _, operands = rest.partition(" ")
    operands = split(operands)
    head, *parts = name.split(".")
    if "::" in name:
        raise Unknown(statement)
    kinds = [part for part in parts if part in BITS]
    kind = kinds[0] if kinds else None
    code = instruction(head, parts, kinds, kind, operands, addresses, needed, statement)
    return condition + "{ " + code + " }" if condition else code


def instruction(head, parts, kinds, kind, operands, addresses, needed, statement):
    get = lambda index, as_kind=None: value(operands[index], as_kind or kind, addresses)
    set_ = lambda expression, as_kind=None: put(operands[0], as_kind or kind, expression)
    space = next((part for part in parts if part in ("global", "shared", "local", "param", "const")), "")
    if head in ("ret", "exit"):
        return "return;"
    if head == "bra":
        return f"goto {C(operands[0])};"
    if head == "trap":
        return "asserted(self); return;"
    if head in ("membar", "fence"):
        return "__sync_synchronize();"
    if head in ("bar", "barrier"):
        return "wait_for_warp(self);" if "warp" in parts else "wait_for_block(self);"
    if head == "call":
        return call(operands, addresses, needed)
    if head in ("ld", "ldu"):
        place = address(operands[1], space, addresses)
        wide = ctype(kind) if not is_float(kind) else f"uint{BITS[kind]}_t"
        targets = operands[0].strip("{} ").split(",")
        return "".join(f"{C(target.strip())} = (({wide} *)({place}))[{index}];" for index, target in enumerate(targets))
    if head == "st":
        place = address(operands[0], space, addresses)
        wide = f"uint{BITS[kind]}_t"
        sources = [source.strip() for source in operands[1].strip("{} ").split(",")]
        bits = [f"bits_of({value(s, kind, addresses)})" if kind == "f32" and not s.startswith("%")
                else f"bits_of_double({value(s, kind, addresses)})" if kind == "f64" and not s.startswith("%")
                else value(s, f"b{BITS[kind]}", addresses) for s in sources]
        return "".join(f"(({wide} *)({place}))[{index}] = {source};" for index, source in enumerate(bits))
    if head == "cvta":
        moved = {True: f"{get(1)} - (uint64_t)(uintptr_t)shared", False: f"{get(1)} + (uint64_t)(uintptr_t)shared"}
        return set_(moved["to" in parts] if "shared" in parts else get(1))
    if head == "mov":
        return move(kind, operands, addresses)
    if head == "cvt":
        if len(operands) == 3:
            half = kinds[0].removesuffix("x2")
            to_bits = "half_of" if half == "f16" else "bfloat_of"
            return f"{C(operands[0])} = ((uint32_t){to_bits}({get(1, 'f32')}) << 16) | {to_bits}({get(2, 'f32')});"
        return set_(convert(parts, kinds[0], kinds[1], get(1, kinds[1])))
    if head in ("setp", "set"):
        compared = kinds[-1]
        found = compare(parts[0], compared, get(1, compared), get(2, compared))
        if head == "set":
            return put(operands[0], kinds[0], f"{found} ? {'1' if is_float(kinds[0]) else '-1'} : 0")
        if len(operands) == 4:
            found = f"({found} {dict(zip(('and', 'or', 'xor'), '&|^'))[parts[1]]} {get(3, 'pred')})"
        target, _, other = operands[0].partition("|")
        return put(target, "pred", found) + (put(other, "pred", f"!{found}") if other else "")
    if head == "selp":
        return set_(f"{get(3, 'pred')} ? {get(1)} : {get(2)}")
    if head in ("atom", "red"):
        return atomic(head, parts, kind, space, operands, addresses)
    if head == "shfl":
        how = next(part for part in parts if part in ("up", "down", "bfly", "idx"))
        target, _, found = operands[0].partition("|")
        moved = f"shuffled(self, {get(1)}, {get(2, 'u32')}, {get(3, 'u32')}, '{how[0]}', &there)"
        return f"{{ int there; {put(target, kind, moved)} {put(found, 'pred', 'there') if found else ''} wait_for_warp(self); }}"
    if "cc" in parts or head in ("addc", "subc", "madc"):
        return carried(head, parts, kind, get, set_, statement)
    if kind in ("f16x2", "bf16x2"):
        return pairwise(head, parts, kind, operands, addresses, needed, statement)
    return arithmetic(head, parts, kind, get, set_, statement)


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
            # Of shorter formats every product is exact in a double, and so is all but the rarest sum.
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
    """32-bit additions that hand a carry on."""
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
    """Two numbers of half the width in one register."""
    one = kind.removesuffix("x2")
    halves = []
    for shift in (0, 16):
        get = lambda index, as_kind=None, shift=shift: (
            f"{'float_of_half' if one == 'f16' else 'float_of_bfloat'}((uint16_t)({value(operands[index], 'b32', addresses)} >> {shift}))"
        )
        halves.append(arithmetic(head, parts, one, get, lambda e, _=None: f"{'half_of' if one == 'f16' else 'bfloat_of'}({e})", statement))
    return f"{C(operands[0])} = (uint32_t){halves[0]} | ((uint32_t){halves[1]} << 16);"


def move(kind, operands, addresses):
    if operands[0].startswith("{"):
        parts = [part.strip() for part in operands[0].strip("{} ").split(",")]
        width = BITS[kind] // len(parts)
        whole = value(operands[1], f"b{BITS[kind]}", addresses)
        return "".join(put(part, f"b{width}", f"{whole} >> {index * width}") for index, part in enumerate(parts) if part != "_")
    if operands[1].startswith("{"):
        parts = [part.strip() for part in operands[1].strip("{} ").split(",")]
        width = BITS[kind] // len(parts)
        packed = [f"((uint64_t){value(part, f'b{width}', addresses)} << {index * width})" for index, part in enumerate(parts)]
        return put(operands[0], f"b{BITS[kind]}", " | ".join(packed))
    if is_float(kind) and operands[1].startswith("%"):
        kind = f"b{BITS[kind]}"
    return put(operands[0], kind, value(operands[1], kind, addresses))


def atomic(head, parts, kind, space, operands, addresses):
    first = 0 if head == "red" else 1
    place = address(operands[first], space, addresses)
    how = next(part for part in parts if part in ("add", "cas", "exch", "min", "max", "and", "or", "xor", "inc", "dec"))
    given = value(operands[first + 1], kind, addresses)
    width = f"uint{BITS[kind]}_t"
    bits = f"uint{BITS[kind]}_t"
    now = {"f16": "float_of_half(was)", "bf16": "float_of_bfloat(was)", "f32": "float_of(was)", "f64": "double_of(was)"}.get(
        kind, f"({ctype(kind)})was")
    back = {"f16": "half_of({})", "bf16": "bfloat_of({})", "f32": "bits_of({})", "f64": "bits_of_double({})"}.get(kind, f"({bits})({{}})")
    if how == "cas":
        changed = f"was == ({bits}){given} ? ({bits}){value(operands[first + 2], kind, addresses)} : was"
    else:
        changed = back.format({
            "add": f"{now} + {given}", "exch": given, "min": f"{now} < {given} ? {now} : {given}",
            "max": f"{now} > {given} ? {now} : {given}", "and": f"{now} & {given}", "or": f"{now} | {given}", "xor": f"{now} ^ {given}",
            "inc": f"{now} >= {given} ? 0 : {now} + 1", "dec": f"{now} == 0 || {now} > {given} ? {given} : {now} - 1",
        }[how])
    result = f"{C(operands[0])} = was;" if head == "atom" and operands[0] != "_" else ""
    return (f"{{ {width} *place = ({width} *)({place}), was = __atomic_load_n(place, __ATOMIC_SEQ_CST), next; "
            f"do next = {changed}; while (!__atomic_compare_exchange_n(place, &was, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); {result} }}")


def call(operands, addresses, needed):
    returned = operands[0].strip("() ").split(",") if operands[0].startswith("(") else []
    rest = operands[1:] if operands[0].startswith("(") else operands
    name = rest[0]
    given = rest[1].strip("() ").split(",") if len(rest) > 1 else []
    if name == "__assertfail":
        return "asserted(self); return;"
    if name == "vprintf":
        return ""
    if name not in needed:
        needed.append(name)
    names = [f"(uint8_t *){C(part.strip())}" for part in [*returned, *given] if part.strip()]
    return f"F_{C(name)}(" + ", ".join(["self", "shared", *names]) + ");"
