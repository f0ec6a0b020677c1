//! The table of macros, each with its stack of definitions.

use std::collections::HashMap;
use std::rc::Rc;

use crate::builtins::Builtin;
use crate::text::Text;

/// What a macro does.
pub(crate) enum Definition {
    Text(Text),
    Builtin(Builtin),
}

/// All macros; the last definition of a stack is the one in force.
pub(crate) struct Symbols {
    stacks: HashMap<Vec<u8>, Vec<Rc<Definition>>>,
}

impl Symbols {
    /// A table with the builtins and nothing else.
    pub(crate) fn new() -> Self {
        let mut symbols = Symbols { stacks: HashMap::new() };
        for builtin in Builtin::all() {
            symbols.define(builtin.name().as_bytes(), Definition::Builtin(builtin));
        }
        for name in ["__gnu__", "__unix__"] {
            symbols.define(name.as_bytes(), Definition::Text(Text::new()));
        }
        symbols
    }

    /// The definition in force; shared, so that a call keeps it when its arguments redefine it.
    pub(crate) fn get(&self, name: &[u8]) -> Option<Rc<Definition>> {
        self.stacks.get(name)?.last().cloned()
    }

    /// Replaces the definition in force.
    pub(crate) fn define(&mut self, name: &[u8], definition: Definition) {
        let stack = self.stacks.entry(name.to_vec()).or_default();
        stack.pop();
        stack.push(Rc::new(definition));
    }

    /// Puts a definition over the one in force.
    pub(crate) fn push(&mut self, name: &[u8], definition: Definition) {
        let stack = self.stacks.entry(name.to_vec()).or_default();
        stack.push(Rc::new(definition));
    }

    /// Uncovers the definition below the one in force.
    pub(crate) fn pop(&mut self, name: &[u8]) {
        if let Some(stack) = self.stacks.get_mut(name) {
            stack.pop();
            if stack.is_empty() {
                self.stacks.remove(name);
            }
        }
    }

    /// Forgets all definitions of a name.
    pub(crate) fn remove(&mut self, name: &[u8]) {
        self.stacks.remove(name);
    }
}
