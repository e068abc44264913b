"""Translates a kernel from PTX, the assembly that nvcc writes, to C that `threads.h` runs on the CPU.

    python3 ptx.py MODULE.ptx KERNEL > kernel.c

This file parses modules, functions, variables and statements; `instructions.py` translates each instruction.
Source: NVIDIA's "Parallel Thread Execution ISA", version 9.0.
"""

import re
import sys

from instructions import MOST_PRODUCTS, translate
from operands import BITS, C, Unknown, split

FUNCTION = re.compile(r"^(?P<linkage>(?:\.(?:visible|weak|extern)\s+)*)\.(?P<kind>entry|func)\s+", re.M)
LABEL = re.compile(r"([$%\w]+):(?!:)")
VARIABLE = re.compile(
    r"\.(?P<space>param|shared|local|global|const)\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+"
    r"(?:\.ptr\S*(?:\s*\.\w+)*(?:\s*\.align\s+\d+)?\s+)?(?P<name>[$%\w]+)(?:\[(?P<count>\d*)\])?"
)


def bracketed(text, start, pair):
    """The text in the brackets that open at `start`, and where they end."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == pair[0]) - (text[index] == pair[1])
        if depth == 0:
            return text[start + 1 : index], index + 1
    raise ValueError("unclosed brackets")


def functions(text):
    """The functions of a module by name: whether it is a kernel, what it returns, its parameters, and its body if it has one."""
    found = {}
    for match in FUNCTION.finditer(text):
        position = match.end()
        returned = ""
        if text[position] == "(":
            returned, position = bracketed(text, position, "()")
        name = re.compile(r"\s*([$%\w]+)\s*").match(text, position)
        parameters, position = bracketed(text, name.end(), "()") if text[name.end() : name.end() + 1] == "(" else ("", name.end())
        brace, end = text.find("{", position), text.find(";", position)
        body = None if brace < 0 or 0 <= end < brace else bracketed(text, brace, "{}")[0]
        if body is not None or name[1] not in found:
            found[name[1]] = (match["kind"] == "entry", split(returned), split(parameters), body)
    return found


def statements(body):
    """Braces, labels and instructions, in order."""
    position = 0
    while True:
        while position < len(body) and body[position].isspace():
            position += 1
        if position >= len(body):
            return
        label = LABEL.match(body, position)
        if body[position] in "{}":
            yield body[position]
            position += 1
        elif label:
            yield label[0]
            position = label.end()
        else:
            end = body.index(";", position)
            yield " ".join(body[position:end].split())
            position = end + 1


class Variables:
    """The addresses of the variables of a module or function, as C."""

    def __init__(self, outer=None):
        self.addresses = dict(outer.addresses) if outer else {}
        self.shared = outer.shared if outer else 0

    def declare(self, text):
        """A declaration as C; nothing for shared memory, which is laid out here."""
        found = VARIABLE.search(text)
        size = BITS[found["type"]] // 8
        align = int(found["align"] or size)
        name, count = found["name"], found["count"]
        values = re.search(r"=\s*(.*)$", text)
        if found["space"] == "shared":
            if count == "":
                return ""
            self.shared = -(-self.shared // align) * align
            self.addresses[name] = f"{self.shared}u"
            self.shared += size * int(count or 1)
            return ""
        self.addresses[name] = f"(uint64_t)(uintptr_t){C(name)}"
        count = int(count or 1) if found["space"] == "param" or count is None else int(count)
        value = f" = {values[1] if values[1].startswith('{') else '{' + values[1] + '}'}" if values else ""
        kind = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}[size * 8]
        return f"{kind} {C(name)}[{count}] __attribute__((aligned({max(align, 16)}))){value};"


def registers(text):
    """A `.reg` declaration as C."""
    kind, names = text.removeprefix(".reg").strip().removeprefix(".").split(None, 1)
    declared = []
    for name in split(names):
        range_of = re.match(r"([$%\w]+)<(\d+)>", name)
        declared += [f"{range_of[1]}{index}" for index in range(int(range_of[2]))] if range_of else [name]
    return f"uint{BITS[kind]}_t " + ", ".join(f"{C(name)} = 0" for name in declared) + ";"


def with_products_together(found):
    """The statements, with matrix products that follow each other as one, because a warp has to wait for all of its lanes at each."""
    together = []
    for statement in found:
        if statement.startswith("mma.") and len(together) < MOST_PRODUCTS:
            together.append(statement)
            continue
        if together:
            yield "; ".join(together)
        together = [statement] if statement.startswith("mma.") else []
        if not together:
            yield statement
    if together:
        yield "; ".join(together)


def function(name, module, outer, needed):
    """A function as C; the functions it calls are added to `needed`."""
    is_kernel, returned, parameters, body = module[name]
    variables = Variables(outer)
    offsets, size = [], 0
    for text in parameters:
        found = VARIABLE.match(text)
        width = BITS[found["type"]] // 8
        align, whole = int(found["align"] or width), width * int(found["count"] or 1)
        size = -(-size // align) * align
        address = f"arguments + {size}" if is_kernel else f"{C(found['name'])}"
        variables.addresses[found["name"]] = f"(uint64_t)(uintptr_t)({address})"
        offsets.append((size, whole))
        size += whole
    for text in returned:
        name_of = VARIABLE.match(text)["name"]
        variables.addresses[name_of] = f"(uint64_t)(uintptr_t){C(name_of)}"
    lines, waits = [], False
    for statement in with_products_together(statements(body)):
        if statement in "{}":
            lines.append(statement)
        elif statement.endswith(":"):
            lines.append(f"{C(statement[:-1])}:;")
        elif statement.startswith(".reg"):
            lines.append(registers(statement))
        elif statement.startswith((".param", ".shared", ".local", ".global", ".const", ".extern .shared")):
            lines.append(variables.declare(statement))
        elif not statement.startswith((".loc", ".pragma", ".file")):
            lines.append(translate(statement, variables.addresses, needed))
            waits = waits or "wait_for" in lines[-1]
    own = ["const uint8_t *arguments"] if is_kernel else [f"uint8_t *{C(VARIABLE.match(text)['name'])}" for text in [*returned, *parameters]]
    head = f"static void F_{C(name)}({', '.join(['struct thread *self', 'uint8_t *shared', *own])})"
    return head + ";", head + "\n{\n" + "\n".join(lines) + "\n}", offsets, variables.shared, waits


def program(text, kernel):
    """A kernel as C, with all functions it calls."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    module = functions(text)
    if kernel not in module:
        raise Unknown(f"there is no kernel {kernel}")
    outer, code, heads = Variables(), [], []
    for line in re.finditer(r"^(?:\.visible |\.extern |\.weak )*\.(?:global|const|shared)\s[^;]*;", text, re.M):
        heads.append("static " + declared if (declared := outer.declare(line[0].rstrip(";"))) else "")
    needed, done, waits, parameters = [kernel], [], False, []
    while untranslated := [name for name in needed if name not in done]:
        done.append(untranslated[0])
        is_kernel, _, _, body = module[untranslated[0]]
        if body is None:
            continue
        head, translated, offsets, outer.shared, it_waits = function(untranslated[0], module, outer, needed)
        waits = waits or it_waits
        heads.append(head)
        code.append(translated)
        parameters = offsets if is_kernel else parameters
    described = ", ".join(f"{{{offset}, {size}}}" for offset, size in parameters) or "{0, 0}"
    shared = -(-outer.shared // 16) * 16
    code.append(f"KERNEL(F_{C(kernel)}, {shared}, {len(parameters)}, {{{described}}}, {int(waits)});")
    # Dynamic shared memory comes after that whose size is known here.
    whole = "\n".join([*heads, *code])
    return '#include "threads.h"\n' + re.sub(r"\bDYNAMIC_\w+", f"{shared}u", whole)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        try:
            print(program(file.read(), sys.argv[2]))
        except Unknown as error:
            sys.exit(f"{sys.argv[2]}: {error}")
