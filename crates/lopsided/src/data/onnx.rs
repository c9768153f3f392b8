//! ONNX files: graphs of standard operators, as protocol buffers of the few messages that a graph needs.
//!
//! Numbers in the comments are those of the fields in `onnx.proto`. Only two kinds of field occur: whole numbers, and
//! bytes with their length, which texts, arrays and messages inside messages are.

use crate::base::scalar::Scalar;

/// The set of operators that graphs are written for; every runtime since 2022 has it.
pub const OPSET: u64 = 17;
/// The version of the messages that belongs to it.
const IR_VERSION: u64 = 8;

/// Element types of arrays.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const STRING: u64 = 8;
const DOUBLE: u64 = 11;

/// A value of a graph, by its name.
#[derive(Clone, Debug)]
pub(crate) struct Value(String);

/// Whole numbers that an operator is set up with.
pub(crate) type Attributes<'a> = &'a [(&'a str, i64)];

/// A graph that is being put together: operators in the order in which they are evaluated, and constants in the precision
/// of `T`.
pub(crate) struct Graph<T> {
    nodes: Message,
    constants: Message,
    inputs: Message,
    outputs: Message,
    count: usize,
    precision: std::marker::PhantomData<T>,
}

impl<T: Scalar> Graph<T> {
    pub(crate) fn new() -> Self {
        let [nodes, constants, inputs, outputs] = Default::default();
        Graph { nodes, constants, inputs, outputs, count: 0, precision: std::marker::PhantomData }
    }

    /// A table of so many columns and any number of rows.
    pub(crate) fn input(&mut self, name: &str, columns: usize) -> Value {
        self.inputs.message(11, &described(name, number_type::<T>(), &[columns]));
        Value(name.into())
    }

    /// Makes a value an output: numbers in so many columns, or a list of texts.
    pub(crate) fn output(&mut self, name: &str, value: &Value, columns: Option<usize>) {
        self.node("Identity", &[value], &[], name);
        let kind = if columns.is_some() { number_type::<T>() } else { STRING };
        self.outputs.message(12, &described(name, kind, columns.as_slice()));
    }

    /// What an operator makes of some values.
    pub(crate) fn op(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.op_with(operator, inputs, &[])
    }

    /// What an operator with attributes makes of some values.
    pub(crate) fn op_with(&mut self, operator: &str, inputs: &[&Value], attributes: Attributes<'_>) -> Value {
        let name = self.name();
        self.node(operator, inputs, attributes, &name);
        Value(name)
    }

    fn node(&mut self, operator: &str, inputs: &[&Value], attributes: Attributes<'_>, output: &str) {
        let mut node = Message::default();
        inputs.iter().for_each(|input| node.bytes(1, input.0.as_bytes()));
        node.bytes(2, output.as_bytes());
        node.bytes(4, operator.as_bytes());
        for (name, value) in attributes {
            let mut attribute = Message::default();
            attribute.bytes(1, name.as_bytes());
            attribute.number(3, *value as u64);
            attribute.number(20, 2);
            node.message(5, &attribute);
        }
        self.nodes.message(1, &node);
    }

    /// A constant array, row by row.
    pub(crate) fn numbers(&mut self, shape: &[usize], values: impl Iterator<Item = f64>) -> Value {
        let values: Vec<T> = values.map(T::of).collect();
        assert_eq!(values.len(), shape.iter().product::<usize>(), "a value for each place of {shape:?}");
        self.constant(number_type::<T>(), shape, |tensor| tensor.bytes(9, &T::to_bytes(&values)))
    }

    /// A single number.
    pub(crate) fn number(&mut self, value: f64) -> Value {
        self.numbers(&[], std::iter::once(value))
    }

    /// A constant array of whole numbers, row by row.
    pub(crate) fn indices(&mut self, shape: &[usize], values: &[usize]) -> Value {
        let bytes: Vec<u8> = values.iter().flat_map(|&v| (v as i64).to_le_bytes()).collect();
        self.constant(INT64, shape, |tensor| tensor.bytes(9, &bytes))
    }

    /// A constant list of texts.
    pub(crate) fn texts(&mut self, texts: &[String]) -> Value {
        self.constant(STRING, &[texts.len()], |tensor| texts.iter().for_each(|text| tensor.bytes(6, text.as_bytes())))
    }

    fn constant(&mut self, kind: u64, shape: &[usize], fill: impl FnOnce(&mut Message)) -> Value {
        let name = self.name();
        let mut tensor = Message::default();
        shape.iter().for_each(|&size| tensor.number(1, size as u64));
        tensor.number(2, kind);
        tensor.bytes(8, name.as_bytes());
        fill(&mut tensor);
        self.constants.message(5, &tensor);
        Value(name)
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    /// The bytes of the file, with some facts about the model as pairs of texts.
    pub(crate) fn finish(self, name: &str, facts: &[(&str, String)]) -> Vec<u8> {
        let mut graph = self.nodes;
        graph.bytes(2, name.as_bytes());
        [self.constants, self.inputs, self.outputs].iter().for_each(|part| graph.0.extend_from_slice(&part.0));
        let (mut operators, mut model) = (Message::default(), Message::default());
        operators.bytes(1, b"");
        operators.number(2, OPSET);
        model.number(1, IR_VERSION);
        model.bytes(2, b"lopsided");
        model.bytes(3, env!("CARGO_PKG_VERSION").as_bytes());
        model.message(7, &graph);
        model.message(8, &operators);
        for (key, value) in facts {
            let mut fact = Message::default();
            fact.bytes(1, key.as_bytes());
            fact.bytes(2, value.as_bytes());
            model.message(14, &fact);
        }
        model.0
    }
}

fn number_type<T: Scalar>() -> u64 {
    if T::BYTES == size_of::<f32>() { FLOAT } else { DOUBLE }
}

/// The name, the type and the shape of an input or output; the number of rows is open.
fn described(name: &str, kind: u64, further: &[usize]) -> Message {
    let mut shape = Message::default();
    let mut rows = Message::default();
    rows.bytes(2, b"rows");
    shape.message(1, &rows);
    for &size in further {
        let mut dimension = Message::default();
        dimension.number(1, size as u64);
        shape.message(1, &dimension);
    }
    let [mut tensor, mut all, mut value] = <[Message; 3]>::default();
    tensor.number(1, kind);
    tensor.message(2, &shape);
    all.message(1, &tensor);
    value.bytes(1, name.as_bytes());
    value.message(2, &all);
    value
}

/// A protocol buffer.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// A field with a whole number.
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A field with bytes.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint((field << 3) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }

    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_written_as_the_format_has_them() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        assert_eq!(message.0, [&[0x08, 0x96, 0x01, 0x12, 0x07][..], b"testing"].concat());
        let mut long = Message::default();
        long.bytes(16, &[7; 300]);
        assert_eq!((&long.0[..4], long.0.len()), (&[0x82, 0x01, 0xac, 0x02][..], 304));
    }
}
