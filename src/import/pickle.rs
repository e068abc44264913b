//! Reads the pickle of a state dict as data: classes and functions in it are names, and none is
//! ever looked up or called.
//!
//! Values are in one list and refer to one another by index, so that nothing is copied when a
//! hostile file repeats it, and nothing is ever traversed recursively. Every instruction adds at
//! most one value, one entry of the memo, or one reference to the stack, so that limiting
//! instructions limits memory and time.

use std::collections::HashMap;

use super::tensors::MAX_DIMENSIONS;

/// Bytes of a pickle. It describes tensors and has none of their numbers.
const MAX_BYTES: usize = 4 << 20;
/// Instructions of a pickle: `torch.save` writes about 30 for each tensor.
const MAX_INSTRUCTIONS: usize = 1 << 19;

const MISSING: &str = "its pickle needs a value that is not there";
const TRUNCATED: &str = "its pickle is truncated";

/// The index of a value.
pub type Id = usize;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`, booleans, floats, and whatever else does not matter in a state dict.
    Other,
    Integer(usize),
    /// A string, or the name of a class or function, `module.name`.
    Text(String),
    Sequence(Vec<Id>),
    /// A dict, ordered or not, or the attributes of an object.
    Dict(Vec<(Id, Id)>),
    /// A reference to something in the archive, outside of the pickle.
    Persistent(Id),
    Tensor(Stored),
}

/// A tensor among the numbers of a file in the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The class of its numbers, and the name of the file.
    pub class: Id,
    pub file: Id,
    pub offset: usize,
    /// How many numbers there are along each axis, and the distance between two of them.
    pub axes: Vec<(usize, usize)>,
}

#[derive(Debug, Default)]
pub struct Values(Vec<Value>);

impl Values {
    pub fn get(&self, id: Id) -> &Value {
        self.0.get(id).unwrap_or(&Value::Other)
    }

    pub fn text(&self, id: Id) -> Option<&str> {
        match self.get(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a sequence; none for other values.
    fn sequence(&self, id: Id) -> &[Id] {
        match self.get(id) {
            Value::Sequence(elements) => elements,
            _ => &[],
        }
    }

    fn length(&self, id: Id) -> Option<usize> {
        match *self.get(id) {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// What `_rebuild_tensor_v2(storage, offset, shape, strides, …)` would return; `None` for other
    /// arguments.
    fn tensor(&self, arguments: Id) -> Option<Stored> {
        let [storage, offset, shape, strides, ..] = *self.sequence(arguments) else {
            return None;
        };
        let Value::Persistent(storage) = *self.get(storage) else {
            return None;
        };
        let [_, class, file, ..] = *self.sequence(storage) else {
            return None;
        };
        let (shape, strides) = (self.sequence(shape), self.sequence(strides));
        let is_valid = shape.len() == strides.len() && shape.len() <= MAX_DIMENSIONS;
        let axes = shape.iter().zip(strides).filter(|_| is_valid);
        let axes =
            axes.map(|(&length, &stride)| Some((self.length(length)?, self.length(stride)?)));
        is_valid.then_some(Stored {
            class,
            file,
            offset: self.length(offset)?,
            axes: axes.collect::<Option<_>>()?,
        })
    }
}

/// Parses a pickle: its values, and the one that it is of. The error says what is wrong.
pub fn read(bytes: &[u8]) -> Result<(Values, Id), String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!(
            "its pickle is larger than {} MiB, too large for a state dict",
            MAX_BYTES >> 20
        ));
    }
    let mut interpreter = Interpreter {
        rest: bytes,
        ..Interpreter::default()
    };
    let root = interpreter.run()?;
    Ok((interpreter.values, root))
}

#[derive(Default)]
struct Interpreter<'a> {
    rest: &'a [u8],
    values: Values,
    /// The values since the last mark.
    stack: Vec<Id>,
    /// Those before each mark.
    below: Vec<Vec<Id>>,
    memo: HashMap<usize, Id>,
}

impl<'a> Interpreter<'a> {
    fn run(&mut self) -> Result<Id, String> {
        for _ in 0..MAX_INSTRUCTIONS {
            let code = self.take(1)?[0];
            match code {
                b'.' => return self.pop(),
                0x80 => drop(self.take(1)?),
                b'(' => self.below.push(std::mem::take(&mut self.stack)),
                // BUILD sets the attributes of an object, which contain no tensors of ours.
                b'0' | b'b' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'N' | 0x88 | 0x89 => self.other(0)?,
                b'G' => self.other(8)?,
                // No length needs more bytes than the four of `J`.
                0x8A => self.number(1).and_then(|length| self.other(length))?,
                // A negative number is no length, and is read as one that is too large.
                b'K' | b'M' | b'J' => {
                    let number = self.number(match code {
                        b'K' => 1,
                        b'M' => 2,
                        _ => 4,
                    })?;
                    self.push(Value::Integer(number));
                }
                b'X' => self.number(4).and_then(|length| self.text(length))?,
                b'}' => self.push(Value::Dict(Vec::new())),
                b')' | b']' => self.push(Value::Sequence(Vec::new())),
                b't' | 0x85..=0x87 => {
                    let elements = match code {
                        b't' => self.pop_to_mark()?,
                        _ => self.pop_some(usize::from(code - 0x84))?,
                    };
                    self.push(Value::Sequence(elements));
                }
                b'a' => self.pop_some(1).and_then(|items| self.extend(&items))?,
                b's' => self.pop_some(2).and_then(|items| self.extend(&items))?,
                b'e' | b'u' => self.pop_to_mark().and_then(|items| self.extend(&items))?,
                b'c' => {
                    let name = format!("{}.{}", self.line()?, self.line()?);
                    self.push(Value::Text(name));
                }
                b'R' | 0x81 => self.call()?,
                b'Q' => {
                    let id = self.pop()?;
                    self.push(Value::Persistent(id));
                }
                b'q' => self.number(1).and_then(|slot| self.put(slot))?,
                b'r' => self.number(4).and_then(|slot| self.put(slot))?,
                b'h' => self.number(1).and_then(|slot| self.get(slot))?,
                b'j' => self.number(4).and_then(|slot| self.get(slot))?,
                other => {
                    return Err(format!(
                        "its pickle contains opcode {other:#04x}, which torch.save does not use by default"
                    ));
                }
            }
        }
        Err(format!(
            "its pickle has more than {MAX_INSTRUCTIONS} instructions"
        ))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(taken)
    }

    /// A little-endian number of at most four bytes that has no sign.
    fn number(&mut self, length: usize) -> Result<usize, String> {
        let bytes = self.take(length)?.iter().rev();
        Ok(bytes.fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    /// A value of so many bytes that does not matter.
    fn other(&mut self, length: usize) -> Result<(), String> {
        self.take(length)?;
        self.push(Value::Other);
        Ok(())
    }

    fn text(&mut self, length: usize) -> Result<(), String> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let length = self.rest.iter().position(|&byte| byte == b'\n');
        let line = self.take(length.ok_or(TRUNCATED)?)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.0.len());
        self.values.0.push(value);
    }

    fn pop(&mut self) -> Result<Id, String> {
        Ok(self.stack.pop().ok_or(MISSING)?)
    }

    /// The last values, as many as that, in their order.
    fn pop_some(&mut self, count: usize) -> Result<Vec<Id>, String> {
        let start = self.stack.len().checked_sub(count).ok_or(MISSING)?;
        Ok(self.stack.split_off(start))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let below = self.below.pop().ok_or("its pickle has no matching mark")?;
        Ok(std::mem::replace(&mut self.stack, below))
    }

    fn top(&self) -> Result<Id, String> {
        Ok(*self.stack.last().ok_or(MISSING)?)
    }

    /// Adds these to the list or dict on top of the stack.
    fn extend(&mut self, items: &[Id]) -> Result<(), String> {
        let top = self.top()?;
        match self.values.0.get_mut(top) {
            Some(Value::Sequence(elements)) => elements.extend(items),
            Some(Value::Dict(dict)) => {
                dict.extend(items.as_chunks().0.iter().map(|&[key, value]| (key, value)));
            }
            _ => {}
        }
        Ok(())
    }

    /// What the functions of a state dict would return. All others are of no use.
    fn call(&mut self) -> Result<(), String> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let value = match self.values.text(function) {
            Some("collections.OrderedDict") => Value::Dict(Vec::new()),
            Some("torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor") => {
                let tensor = self.values.tensor(arguments);
                tensor.map_or(Value::Other, Value::Tensor)
            }
            Some("torch._utils._rebuild_parameter") => {
                let data = self.values.sequence(arguments).first().copied();
                self.stack.push(data.ok_or(MISSING)?);
                return Ok(());
            }
            _ => Value::Other,
        };
        self.push(value);
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
