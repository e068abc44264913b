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
                "its pickle is larger than {} MiB, and those of state dicts are not",
                MAX_BYTES >> 20
            ));
        }
        let mut interpreter = Interpreter {
            bytes,
            at: 0,
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
    bytes: &'a [u8],
    at: usize,
    values: Vec<Value>,
    stack: Vec<Id>,
    /// The heights of the stack at each mark.
    marks: Vec<usize>,
    memo: HashMap<usize, Id>,
}

impl Interpreter<'_> {
    fn run(&mut self) -> Result<Id, String> {
        for _ in 0..MAX_INSTRUCTIONS {
            let [code] = self.take()?;
            match code {
                b'.' => return self.pop(),
                0x80 => drop(self.take::<1>()?),
                // A frame's length; what it frames follows.
                0x95 => drop(self.take::<8>()?),
                b'(' => self.marks.push(self.stack.len()),
                // BUILD sets the attributes of an object, which contain no tensors of ours.
                b'0' | b'b' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'N' | 0x88 | 0x89 => self.push(Value::Other),
                b'G' => {
                    self.take::<8>()?;
                    self.push(Value::Other);
                }
                b'K' => {
                    let [value] = self.take()?;
                    self.push(Value::Integer(i64::from(value)));
                }
                b'M' => {
                    let value = i64::from(u16::from_le_bytes(self.take()?));
                    self.push(Value::Integer(value));
                }
                b'J' => {
                    let value = i64::from(i32::from_le_bytes(self.take()?));
                    self.push(Value::Integer(value));
                }
                0x8A => self.long()?,
                b'X' | b'T' | b'B' => {
                    let length = u32::from_le_bytes(self.take()?) as usize;
                    self.text(length)?;
                }
                0x8C | b'U' | b'C' => {
                    let [length] = self.take()?;
                    self.text(usize::from(length))?;
                }
                b'}' => self.push(Value::Dict(Vec::new())),
                b')' | b']' => self.push(Value::Sequence(Vec::new())),
                b't' | b'l' => {
                    let elements = self.pop_to_mark()?;
                    self.push(Value::Sequence(elements));
                }
                0x85..=0x87 => self.tuple(usize::from(code - 0x84))?,
                b'a' => {
                    let item = self.pop()?;
                    self.append(&[item])?;
                }
                b'e' => {
                    let items = self.pop_to_mark()?;
                    self.append(&items)?;
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    self.set(&[key, value])?;
                }
                b'u' => {
                    let items = self.pop_to_mark()?;
                    self.set(&items)?;
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
                b'q' => {
                    let [slot] = self.take()?;
                    self.put(usize::from(slot))?;
                }
                b'r' => {
                    let slot = u32::from_le_bytes(self.take()?) as usize;
                    self.put(slot)?;
                }
                0x94 => self.put(self.memo.len())?,
                b'h' => {
                    let [slot] = self.take()?;
                    self.get(usize::from(slot))?;
                }
                b'j' => {
                    let slot = u32::from_le_bytes(self.take()?) as usize;
                    self.get(slot)?;
                }
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

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let taken = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>())
            .ok_or("its pickle is truncated")?;
        self.at += N;
        Ok(*taken)
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Id, String> {
        // Values below a mark belong to whatever set it.
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err("its pickle pops past a mark".to_owned());
        }
        self.stack
            .pop()
            .ok_or_else(|| "its pickle is empty".to_owned())
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
        let bytes = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.get(..length))
            .ok_or("its pickle ends in the middle of a string")?;
        self.at += length;
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or("its pickle ends in the middle of a name")?;
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    /// An integer of any length. One that does not fit cannot be a length.
    fn long(&mut self) -> Result<(), String> {
        let [length] = self.take()?;
        let bytes = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.get(..usize::from(length)))
            .ok_or("its pickle is truncated")?;
        self.at += usize::from(length);
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if negative { 0xFF } else { 0 }; 8];
        let fits = bytes.len() <= wide.len();
        wide.iter_mut()
            .zip(bytes)
            .for_each(|(wide, byte)| *wide = *byte);
        self.push(if fits {
            Value::Integer(i64::from_le_bytes(wide))
        } else {
            Value::Other
        });
        Ok(())
    }

    fn tuple(&mut self, length: usize) -> Result<(), String> {
        let mut elements = (0..length)
            .map(|_| self.pop())
            .collect::<Result<Vec<_>, _>>()?;
        elements.reverse();
        self.push(Value::Sequence(elements));
        Ok(())
    }

    fn append(&mut self, items: &[Id]) -> Result<(), String> {
        if let Some(Value::Sequence(elements)) = self.top()? {
            elements.extend_from_slice(items);
        }
        Ok(())
    }

    fn set(&mut self, items: &[Id]) -> Result<(), String> {
        if let Some(Value::Dict(dict)) = self.top()? {
            dict.extend(
                items
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|[key, value]| (*key, *value)),
            );
        }
        Ok(())
    }

    fn top(&mut self) -> Result<Option<&mut Value>, String> {
        let top = self
            .stack
            .last()
            .copied()
            .ok_or("its pickle adds items to a missing container")?;
        Ok(self.values.get_mut(top))
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
        let top = self
            .stack
            .last()
            .copied()
            .ok_or("its pickle memoizes a missing value")?;
        self.memo.insert(slot, top);
        Ok(())
    }

    fn get(&mut self, slot: usize) -> Result<(), String> {
        let id = self
            .memo
            .get(&slot)
            .copied()
            .ok_or("its pickle reads an empty memo slot")?;
        self.stack.push(id);
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
