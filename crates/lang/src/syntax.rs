//! The syntax tree of a DVE file, with the place of everything that a message may point at.

use crate::source::Span;
use lariat_model::{BinaryOperator, UnaryOperator, ValueType};

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Everything before `system`, in order.
    pub items: Vec<Item>,
    /// `system ...;`
    pub system: Option<System>,
}

/// A declaration at the top of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// `byte x = 1, a[3];`
    Variable(VariableDeclaration),
    /// `channel c;`, `channel {byte, int} d[4];`
    Channel(ChannelDeclaration),
    /// `process P { ... }`
    Process(ProcessDeclaration),
}

/// One declared variable or constant.
#[derive(Clone, Debug)]
pub struct VariableDeclaration {
    /// Whether it is a constant.
    pub constant: bool,
    /// Its type.
    pub value_type: ValueType,
    /// Its name.
    pub name: Name,
    /// The number of elements of an array.
    pub length: Option<Expression>,
    /// The initial value.
    pub initial: Option<Initializer>,
}

/// `= e` or `= {e, e}`.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// A single expression.
    One(Expression),
    /// A list, and its place.
    List(Vec<Expression>, Span),
}

/// One declared channel.
#[derive(Clone, Debug)]
pub struct ChannelDeclaration {
    /// Its name.
    pub name: Name,
    /// The types of a typed channel.
    pub items: Option<Vec<ValueType>>,
    /// The capacity of a typed channel.
    pub capacity: Option<Expression>,
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessDeclaration {
    /// Its name.
    pub name: Name,
    /// Local variables and constants.
    pub variables: Vec<VariableDeclaration>,
    /// `state a, b;`
    pub states: Vec<Name>,
    /// `init a;`
    pub init: Option<Name>,
    /// `accept a, b;`
    pub accept: Vec<Name>,
    /// The kind of acceptance if it is another one than Büchi's, and its place.
    pub other_acceptance: Option<Name>,
    /// `commit a, b;`
    pub commit: Vec<Name>,
    /// `assert a: e, b: e;`
    pub assertions: Vec<(Name, Expression)>,
    /// `trans ...;`
    pub transitions: Vec<TransitionDeclaration>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct TransitionDeclaration {
    /// The location it leaves; none means that of the transition before.
    pub from: Option<Name>,
    /// The location it enters.
    pub to: Name,
    /// `guard e;`
    pub guard: Option<Expression>,
    /// `sync c!e;`
    pub sync: Option<SyncDeclaration>,
    /// `effect x = e, y = e;`
    pub effects: Vec<Effect>,
    /// The place of its head.
    pub span: Span,
}

/// `c!e`, `c?x`.
#[derive(Clone, Debug)]
pub struct SyncDeclaration {
    /// The channel.
    pub channel: Name,
    /// Whether it sends.
    pub sends: bool,
    /// What is sent, or what receives.
    pub values: Vec<Expression>,
}

/// `target = value`
#[derive(Clone, Debug)]
pub struct Effect {
    /// What is assigned.
    pub target: Expression,
    /// The value.
    pub value: Expression,
}

/// `system async property L;`
#[derive(Clone, Debug)]
pub struct System {
    /// Whether all processes move at once.
    pub synchronous: bool,
    /// The property process.
    pub property: Option<Name>,
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Its place.
    pub span: Span,
    /// How many levels of operators it has; bounded by the parser, since later steps recurse.
    pub depth: u32,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number, `true` or `false`.
    Constant(i32),
    /// `x`
    Variable(Name),
    /// `a[i]`
    Element(Name, Box<Expression>),
    /// `P.loc`
    Location(Name, Name),
    /// `P->x`, `P->a[i]`
    Foreign(Name, Name, Option<Box<Expression>>),
    /// `-e`, `~e`, `not e`
    Unary(UnaryOperator, Box<Expression>),
    /// `e + e`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
}
