//! Reads the pickle of a state dict as data: classes and functions in it are names, and none is
//! ever looked up or called.
//!
//! Values are in one list and refer to one another by index, so that nothing is copied when a
//! hostile file repeats it, and nothing is ever traversed recursively. Every instruction adds at
//! most one value, one entry of the memo, or one reference to the stack, so that limiting
//! instructions limits memory and time.

use std::collections::HashMap;

/// Bytes of a pickle. It describes tensors and has none of their numbers.
const MAX_BYTES: usize = 4 << 20;
/// Instructions of a pickle: `torch.save` writes about 30 for each tensor.
const MAX_INSTRUCTIONS: usize = 1 << 19;
/// Characters of a class or function; state dicts use no longer ones.
const MAX_GLOBAL: usize = 100;

const MISSING: &str = "its pickle needs a value that is not there";

/// The index of a value.
pub type Id = usize;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`, booleans, floats, and whatever else does not matter in a state dict.
    Other,
    Integer(i64),
    Text(String),
    Sequence(Vec<Id>),
    /// A dict, ordered or not, or the attributes of an object.
    Dict(Vec<(Id, Id)>),
    /// `module.name`.
    Global(String),
    /// The result of calling a global with arguments, if that were done.
    Call {
        global: Id,
        arguments: Id,
    },
    /// A reference to something in the archive, outside of the pickle.
    Persistent(Id),
}

#[derive(Debug)]
pub struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// Parses a pickle; the error says what is wrong.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MAX_BYTES {
            return Err(format!(
                "its pickle is larger than {} MiB, too large for a state dict",
                MAX_BYTES >> 20
            ));
        }
        let mut interpreter = Interpreter {
            rest: bytes,
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
        };
        let root = interpreter.run()?;
        Ok(Self {
            values: interpreter.values,
            root,
        })
    }

    pub const fn root(&self) -> Id {
        self.root
    }

    pub fn value(&self, id: Id) -> &Value {
        self.values.get(id).unwrap_or(&Value::Other)
    }

    /// The elements of a sequence; none for other values.
    pub fn sequence(&self, id: Id) -> &[Id] {
        if let Value::Sequence(elements) = self.value(id) {
            elements
        } else {
            &[]
        }
    }

    pub fn text(&self, id: Id) -> Option<&str> {
        if let Value::Text(text) = self.value(id) {
            Some(text)
        } else {
            None
        }
    }

    /// The name of what is called, and its arguments.
    pub fn call(&self, id: Id) -> Option<(&str, &[Id])> {
        let Value::Call { global, arguments } = self.value(id) else {
            return None;
        };
        match self.value(*global) {
            Value::Global(name) => Some((name, self.sequence(*arguments))),
            _ => None,
        }
    }

    /// The value as an integer that is not negative.
    pub fn length(&self, id: Id) -> Option<usize> {
        if let Value::Integer(value) = self.value(id) {
            usize::try_from(*value).ok()
        } else {
            None
        }
    }
}

struct Interpreter<'a> {
    rest: &'a [u8],
    values: Vec<Value>,
    stack: Vec<Id>,
    /// The heights of the stack at each mark.
    marks: Vec<usize>,
    memo: HashMap<usize, Id>,
}

impl<'a> Interpreter<'a> {
    fn run(&mut self) -> Result<Id, String> {
        for _ in 0..MAX_INSTRUCTIONS {
            let code = self.take(1)?[0];
            match code {
                b'.' => return self.pop(),
                0x80 => drop(self.take(1)?),
                // A frame's length; what it frames follows.
                0x95 => drop(self.take(8)?),
                b'(' => self.marks.push(self.stack.len()),
                // BUILD sets the attributes of an object, which contain no tensors of ours.
                b'0' | b'b' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'N' | 0x88 | 0x89 => self.push(Value::Other),
                b'G' => {
                    self.take(8)?;
                    self.push(Value::Other);
                }
                b'K' | b'M' => {
                    let value = self.unsigned(if code == b'K' { 1 } else { 2 })?;
                    self.push(Value::Integer(value as i64));
                }
                b'J' => self.signed(4)?,
                0x8A => self.unsigned(1).and_then(|length| self.signed(length))?,
                b'X' | b'T' | b'B' => self.unsigned(4).and_then(|length| self.text(length))?,
                0x8C | b'U' | b'C' => self.unsigned(1).and_then(|length| self.text(length))?,
                b'}' => self.push(Value::Dict(Vec::new())),
                b')' | b']' => self.push(Value::Sequence(Vec::new())),
                b't' | b'l' => {
                    let elements = self.pop_to_mark()?;
                    self.push(Value::Sequence(elements));
                }
                0x85..=0x87 => {
                    let elements = self.pop_some(usize::from(code - 0x84))?;
                    self.push(Value::Sequence(elements));
                }
                b'a' | b'e' => {
                    let items = self.pop_items(code == b'a', 1)?;
                    let top = self.top()?;
                    if let Some(Value::Sequence(elements)) = self.values.get_mut(top) {
                        elements.extend(items);
                    }
                }
                b's' | b'u' => {
                    let items = self.pop_items(code == b's', 2)?;
                    let top = self.top()?;
                    if let Some(Value::Dict(dict)) = self.values.get_mut(top) {
                        dict.extend(
                            items
                                .as_chunks()
                                .0
                                .iter()
                                .map(|[key, value]| (*key, *value)),
                        );
                    }
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.push(global(&module, &name));
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    let global = global(self.text_of(module)?, self.text_of(name)?);
                    self.push(global);
                }
                b'R' | 0x81 => self.call()?,
                b'Q' => {
                    let id = self.pop()?;
                    self.push(Value::Persistent(id));
                }
                b'q' => self.unsigned(1).and_then(|slot| self.put(slot))?,
                b'r' => self.unsigned(4).and_then(|slot| self.put(slot))?,
                0x94 => self.put(self.memo.len())?,
                b'h' => self.unsigned(1).and_then(|slot| self.get(slot))?,
                b'j' => self.unsigned(4).and_then(|slot| self.get(slot))?,
                other => {
                    return Err(format!(
                        "its pickle contains opcode {other:#04x}, which state dicts do not use"
                    ));
                }
            }
        }
        Err(format!(
            "its pickle has more than {MAX_INSTRUCTIONS} instructions"
        ))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or("its pickle is truncated")?;
        self.rest = rest;
        Ok(taken)
    }

    /// A little-endian number of at most four bytes that has no sign.
    fn unsigned(&mut self, length: usize) -> Result<usize, String> {
        let bytes = self.take(length)?.iter().rev();
        Ok(bytes.fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    /// An integer of so many bytes. One that does not fit cannot be a length.
    fn signed(&mut self, length: usize) -> Result<(), String> {
        let bytes = self.take(length)?;
        let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let start = if is_negative { -1 } else { 0 };
        let number = bytes.iter().rev();
        let number = number.fold(start, |number, &byte| number << 8 | i64::from(byte));
        let fits = bytes.len() <= size_of::<i64>();
        self.push(if fits {
            Value::Integer(number)
        } else {
            Value::Other
        });
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Id, String> {
        // Values below a mark belong to whatever set it.
        let floor = self.marks.last().copied().unwrap_or(0);
        let top = if self.stack.len() > floor {
            self.stack.pop()
        } else {
            None
        };
        top.ok_or_else(|| MISSING.to_owned())
    }

    /// The last values, as many as that, in their order.
    fn pop_some(&mut self, count: usize) -> Result<Vec<Id>, String> {
        let mut popped = vec![0; count];
        for place in popped.iter_mut().rev() {
            *place = self.pop()?;
        }
        Ok(popped)
    }

    /// The values of a single item, or those of all items since the last mark.
    fn pop_items(&mut self, is_single: bool, size: usize) -> Result<Vec<Id>, String> {
        if is_single {
            self.pop_some(size)
        } else {
            self.pop_to_mark()
        }
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or("its pickle has no matching mark")?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn text_of(&self, id: Id) -> Result<&str, String> {
        match self.values.get(id) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err("its pickle names a class with something other than a string".to_owned()),
        }
    }

    fn text(&mut self, length: usize) -> Result<(), String> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let length = self.rest.iter().position(|&byte| byte == b'\n');
        let line = self.take(length.ok_or("its pickle is truncated")?)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn top(&self) -> Result<Id, String> {
        let top = self.stack.last().copied();
        top.ok_or_else(|| MISSING.to_owned())
    }

    fn call(&mut self) -> Result<(), String> {
        let (arguments, global) = (self.pop()?, self.pop()?);
        let is_dict = matches!(self.values.get(global), Some(Value::Global(name)) if name == "collections.OrderedDict");
        self.push(if is_dict {
            Value::Dict(Vec::new())
        } else {
            Value::Call { global, arguments }
        });
        Ok(())
    }

    fn put(&mut self, slot: usize) -> Result<(), String> {
        self.memo.insert(slot, self.top()?);
        Ok(())
    }

    fn get(&mut self, slot: usize) -> Result<(), String> {
        let id = self.memo.get(&slot);
        self.stack.push(*id.ok_or(MISSING)?);
        Ok(())
    }
}

/// A class or function by its name, unless that is longer than any that matters.
fn global(module: &str, name: &str) -> Value {
    if module.len() + name.len() > MAX_GLOBAL {
        Value::Other
    } else {
        Value::Global(format!("{module}.{name}"))
    }
}
