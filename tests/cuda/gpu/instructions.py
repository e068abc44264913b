"""Translates instructions of PTX to C."""

import re

from arithmetic import arithmetic, carried, compare, convert, pairwise
from operands import BITS, C, Unknown, address, ctype, is_float, put, split, value


# Matrix products that a warp computes after one wait, as in threads.h.
MOST_PRODUCTS = 16


def translate(statement, addresses, needed):
    """An instruction, or matrix products that follow each other, as C; functions it calls are added to `needed`."""
    if statement.startswith("mma."):
        return multiply_matrices(statement.split("; "), addresses)
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
    if head == "cp" and "async" in parts:
        return copy_async(parts, operands, addresses)
    if head == "call":
        return call(operands, addresses, needed)
    if head in ("ld", "ldu"):
        pointer = address(operands[1], space, addresses)
        wide = ctype(kind) if not is_float(kind) else f"uint{BITS[kind]}_t"
        targets = operands[0].strip("{} ").split(",")
        return "".join(f"{C(target.strip())} = (({wide} *)({pointer}))[{index}];" for index, target in enumerate(targets))
    if head == "st":
        pointer = address(operands[0], space, addresses)
        wide = f"uint{BITS[kind]}_t"
        sources = [source.strip() for source in operands[1].strip("{} ").split(",")]
        bits = [f"bits_of({value(s, kind, addresses)})" if kind == "f32" and not s.startswith("%")
                else f"bits_of_double({value(s, kind, addresses)})" if kind == "f64" and not s.startswith("%")
                else value(s, f"b{BITS[kind]}", addresses) for s in sources]
        return "".join(f"(({wide} *)({pointer}))[{index}] = {source};" for index, source in enumerate(bits))
    if head == "cvta":
        moved = {True: f"{get(1)} - (uint64_t)(uintptr_t)shared", False: f"{get(1)} + (uint64_t)(uintptr_t)shared"}
        return set_(moved["to" in parts] if "shared" in parts else get(1))
    if head == "mov":
        return move(kind, operands, addresses)
    if head == "cvt":
        if "tf32" in parts:
            return f"{C(operands[0])} = tf32_of({get(1, 'f32')});"
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
        moved = f"shuffled(self, {get(1)}, {get(2, 'u32')}, {get(3, 'u32')}, '{how[0]}', &in_range)"
        return f"{{ int in_range; {put(target, kind, moved)} {put(found, 'pred', 'in_range') if found else ''} wait_for_warp(self); }}"
    if "cc" in parts or head in ("addc", "subc", "madc"):
        return carried(head, parts, kind, get, set_, statement)
    if kind in ("f16x2", "bf16x2"):
        return pairwise(head, parts, kind, operands, addresses, needed, statement)
    return arithmetic(head, parts, kind, get, set_, statement)


def copy_async(parts, operands, addresses):
    if "commit_group" in parts:
        return "self->copy_groups++;"
    if "wait_group" in parts:
        return f"await_copies(self, {operands[0]});"
    read = value(operands[3] if len(operands) > 3 else operands[2], "u32", addresses)
    return (f"start_copy(self, {address(operands[0], 'shared', addresses)}, (uint64_t)({address(operands[1], 'global', addresses)}), "
            f"{operands[2]}, {read});")


def multiply_matrices(products, addresses):
    puts, multiplied = "", ""
    for index, product in enumerate(products):
        name, _, operands = product.partition(" ")
        result, left, right, sums = ([part.strip() for part in operand.strip("{} ").split(",")] for operand in split(operands))
        format_ = {"tf32": "t", "bf16": "b", "f16": "f"}[name.split(".")[-2]]
        words = lambda registers: f"(uint32_t[]){{{', '.join(value(register, 'b32', addresses) for register in registers)}}}"
        puts += f"put_matrices(self, {index}, {words(left)}, {words(right)}, '{format_}');"
        multiplied += f"multiply_matrices(self, {index}, {words(sums)}, matrix, '{format_}');"
        multiplied += "".join(f"{C(register)} = matrix[{part}];" for part, register in enumerate(result))
    return f"{{ uint32_t matrix[4]; {puts} wait_for_warp(self); {multiplied} self->products++; }}"


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
    pointer = address(operands[first], space, addresses)
    how = next(part for part in parts if part in ("add", "cas", "exch", "min", "max", "and", "or", "xor", "inc", "dec"))
    operand = value(operands[first + 1], kind, addresses)
    width = f"uint{BITS[kind]}_t"
    bits = f"uint{BITS[kind]}_t"
    now = {"f16": "float_of_half(was)", "bf16": "float_of_bfloat(was)", "f32": "float_of(was)", "f64": "double_of(was)"}.get(
        kind, f"({ctype(kind)})was")
    back = {"f16": "half_of({})", "bf16": "bfloat_of({})", "f32": "bits_of({})", "f64": "bits_of_double({})"}.get(kind, f"({bits})({{}})")
    if how == "cas":
        changed = f"was == ({bits}){operand} ? ({bits}){value(operands[first + 2], kind, addresses)} : was"
    else:
        changed = back.format({
            "add": f"{now} + {operand}", "exch": operand, "min": f"{now} < {operand} ? {now} : {operand}",
            "max": f"{now} > {operand} ? {now} : {operand}", "and": f"{now} & {operand}", "or": f"{now} | {operand}", "xor": f"{now} ^ {operand}",
            "inc": f"{now} >= {operand} ? 0 : {now} + 1", "dec": f"{now} == 0 || {now} > {operand} ? {operand} : {now} - 1",
        }[how])
    result = f"{C(operands[0])} = was;" if head == "atom" and operands[0] != "_" else ""
    return (f"{{ {width} *pointer = ({width} *)({pointer}), was = __atomic_load_n(pointer, __ATOMIC_SEQ_CST), next; "
            f"do next = {changed}; while (!__atomic_compare_exchange_n(pointer, &was, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); {result} }}")


def call(operands, addresses, needed):
    returned = operands[0].strip("() ").split(",") if operands[0].startswith("(") else []
    rest = operands[1:] if operands[0].startswith("(") else operands
    name = rest[0]
    arguments = rest[1].strip("() ").split(",") if len(rest) > 1 else []
    if name == "__assertfail":
        return "asserted(self); return;"
    if name == "vprintf":
        return ""
    if name not in needed:
        needed.append(name)
    names = [f"(uint8_t *){C(part.strip())}" for part in [*returned, *arguments] if part.strip()]
    return f"F_{C(name)}(" + ", ".join(["self", "shared", *names]) + ");"
