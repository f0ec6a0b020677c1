//! Transitions, communication and assertions.

use super::{Lowering, Symbol};
use crate::syntax::{Effect, Name, ProcessDeclaration, SyncDeclaration, TransitionDeclaration};
use lariat_model::{Assertion, Assignment, ChannelId, ChannelKind, Communication, ProcessId, Transition, VariableId};

impl Lowering<'_> {
    pub(super) fn process_body(&mut self, declaration: &ProcessDeclaration, id: ProcessId) {
        let process_name = &declaration.name.text;
        for (location, expression) in &declaration.assertions {
            let number = self.location(id, location, process_name);
            let mut resolver = self.resolver(Some(id));
            resolver.foreign_allowed = true;
            let lowered = resolver.expression(expression);
            if let (Some(number), Some(lowered)) = (number, lowered) {
                let line = self.source.file_line(location.span.start);
                self.model.assertions.push(Assertion { process: id, location: number, expression: lowered, line });
            }
        }
        let first = self.model.transitions.len() as u32;
        let mut source = None;
        for transition in &declaration.transitions {
            if self.diagnostics.is_full() {
                return;
            }
            let Some(name) = transition.from.as_ref().or(source) else {
                self.diagnostics
                    .error(transition.span, "the first transition must name the location it leaves")
                    .label("expected `from -> to`");
                continue;
            };
            source = Some(name);
            if let Some(lowered) = self.transition(transition, name, id, process_name) {
                self.model.transitions.push(lowered);
            }
        }
        self.model.processes[id.index()].transitions = first..self.model.transitions.len() as u32;
    }

    fn transition(
        &mut self,
        declaration: &TransitionDeclaration,
        from: &Name,
        process: ProcessId,
        process_name: &str,
    ) -> Option<Transition> {
        // Everything is looked at before any of it is given up, so that one reading shows all errors.
        let from = self.location(process, from, process_name);
        let to = self.location(process, &declaration.to, process_name);
        let guard = match &declaration.guard {
            Some(guard) => self.expression(guard, Some(process)).map(Some),
            None => Some(None),
        };
        let communication = match &declaration.sync {
            Some(sync) => self.communication(sync, process),
            None => Some(Communication::None),
        };
        let assignments: Vec<Option<Assignment>> =
            declaration.effects.iter().map(|effect| self.assignment(effect, process)).collect();
        let assignments = assignments.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Transition {
            process,
            from: from?,
            to: to?,
            guard: guard?,
            communication: communication?,
            writes_global: self.globals_written(&assignments),
            assignments,
            line: self.source.file_line(declaration.span.start),
        })
    }

    fn assignment(&mut self, effect: &Effect, process: ProcessId) -> Option<Assignment> {
        let mut resolver = self.resolver(Some(process));
        let target = resolver.place(&effect.target);
        let value = resolver.expression(&effect.value);
        let target = target?;
        let variable = self.model.variable(self.model.cells[target.first_cell().index()].variable);
        if self.model.property == Some(process) && variable.owner != Some(process) {
            let message = format!("the property process must not assign the global variable `{}`", variable.name);
            self.diagnostics.error(effect.target.span, message);
            return None;
        }
        Some(Assignment { target, value: value? })
    }

    fn globals_written(&self, assignments: &[Assignment]) -> Vec<VariableId> {
        let mut written: Vec<VariableId> = assignments
            .iter()
            .map(|a| self.model.cells[a.target.first_cell().index()].variable)
            .filter(|v| self.model.variable(*v).owner.is_none())
            .collect();
        written.sort_unstable();
        written.dedup();
        written
    }

    fn communication(&mut self, sync: &SyncDeclaration, process: ProcessId) -> Option<Communication> {
        let channel = self.channel_named(&sync.channel, process)?;
        if self.model.property == Some(process) && (sync.sends || !sync.values.is_empty()) {
            self.diagnostics
                .error(sync.channel.span, "the property process only observes: it may receive without values")
                .label("not allowed here");
            return None;
        }
        self.check_values(sync, channel)?;
        let mut resolver = self.resolver(Some(process));
        if sync.sends {
            let values: Vec<_> = sync.values.iter().map(|v| resolver.expression(v)).collect();
            return Some(Communication::Send { channel, values: values.into_iter().collect::<Option<_>>()? });
        }
        let targets: Vec<_> = sync.values.iter().map(|v| resolver.place(v)).collect();
        Some(Communication::Receive { channel, targets: targets.into_iter().collect::<Option<_>>()? })
    }

    fn channel_named(&mut self, name: &Name, process: ProcessId) -> Option<ChannelId> {
        let found = self.names.look_up(&name.text, Some(process));
        if let Some(Symbol::Channel(channel)) = found {
            return Some(*channel);
        }
        let message = match found {
            Some(other) => format!("`{}` is {}, not a channel", name.text, other.describe()),
            None => format!("there is no channel `{}`", name.text),
        };
        let candidates = self.model.channels.iter().map(|c| c.name.as_str());
        self.diagnostics.error(name.span, message).label("unknown channel").suggest(&name.text, candidates);
        None
    }

    /// Every use of a channel carries the same number of values.
    fn check_values(&mut self, sync: &SyncDeclaration, channel: ChannelId) -> Option<()> {
        let n = sync.values.len();
        let (expected, because) = match &self.model.channel(channel).kind {
            ChannelKind::Rendezvous { items: Some(items) } | ChannelKind::Buffer { items, .. } => {
                (items.len(), "its declaration says".to_owned())
            }
            ChannelKind::Rendezvous { items: None } => match self.channel_uses[channel.index()] {
                None => {
                    self.channel_uses[channel.index()] = Some((n, sync.channel.span));
                    return Some(());
                }
                Some((expected, span)) => (expected, format!("it does in line {}", self.source.file_line(span.start))),
            },
        };
        if n == expected {
            return Some(());
        }
        let plural = |n: usize| if n == 1 { "1 value".to_owned() } else { format!("{n} values") };
        let message = format!("`{}` carries {} here", sync.channel.text, plural(n));
        self.diagnostics
            .error(sync.channel.span, message)
            .label(format!("expected {}, as {because}", plural(expected)));
        None
    }
}
