//! The syntax tree to the model form: names are resolved, initial values computed, uses checked.
//!
//! Declarations come first, for all processes, because `P.loc` may name a location of a process further down; then the
//! transitions. Cells are laid out as: global variables, buffered channels, then for each process its location and its
//! local variables; the property process comes last.

mod declarations;
mod expression;
pub(crate) use expression::Resolver;
mod names;
mod transitions;

pub use names::{Names, Symbol};

use crate::Loaded;
use crate::diagnostic::Diagnostics;
use crate::source::{Source, Span};
use crate::syntax::{File, Item, Name, ProcessDeclaration};
use lariat_model::{
    Cell, CellId, Composition, Interval, Model, Process, ProcessId, Variable, VariableId, VariableKind, infer_ranges,
};

/// Rows wider than this are refused: they are a mistake in a model, not a state.
const CELLS_MAX: usize = 1 << 20;

/// Lowers a file that parsed without errors.
pub fn model(source: &Source, file: &File, diagnostics: Diagnostics) -> Result<Loaded, Diagnostics> {
    let mut lowering = Lowering {
        source,
        diagnostics,
        names: Names::default(),
        channel_uses: Vec::new(),
        initial_cells: Vec::new(),
        model: Model {
            file: source.name().to_owned(),
            cells: Vec::new(),
            n_system_cells: 0,
            variables: Vec::new(),
            channels: Vec::new(),
            processes: Vec::new(),
            transitions: Vec::new(),
            assertions: Vec::new(),
            composition: Composition::Asynchronous,
            property: None,
        },
    };
    lowering.file(file);
    let Lowering { diagnostics, mut model, names, .. } = lowering;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    infer_ranges(&mut model);
    Ok(Loaded { model, names, warnings: diagnostics })
}

pub(crate) struct Lowering<'a> {
    pub(crate) source: &'a Source,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) names: Names,
    pub(crate) model: Model,
    /// For each untyped channel: how many values its first use carries, and where that is.
    channel_uses: Vec<Option<(usize, Span)>>,
    /// The initial values of the cells declared so far, which later initialisers may use.
    initial_cells: Vec<i32>,
}

impl Lowering<'_> {
    fn file(&mut self, file: &File) {
        let Some(system) = &file.system else { return };
        if system.synchronous {
            self.model.composition = Composition::Synchronous;
        }
        for item in &file.items {
            match item {
                Item::Variable(variable) => self.variable(variable, None),
                Item::Channel(channel) => self.channel(channel),
                Item::Process(_) => {}
            }
        }
        let processes: Vec<&ProcessDeclaration> = file
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Process(process) => Some(process),
                _ => None,
            })
            .collect();
        for process in &processes {
            self.declare_process(process);
        }
        if processes.is_empty() {
            let end = self.source.text().len() as u32;
            self.diagnostics.error(Span { start: end, end }, "the model has no process");
        }
        self.property_process(system.property.as_ref(), &processes);
        for (i, process) in processes.iter().enumerate() {
            if self.diagnostics.is_full() {
                return;
            }
            self.process_body(process, ProcessId(i as u32));
        }
        if self.model.processes.len() == usize::from(self.model.property.is_some()) && !processes.is_empty() {
            self.diagnostics.error(processes[0].name.span, "the model has a property process only, and no system");
        }
    }

    /// Declares the locals of all processes, those of the property process last so that its cells come last.
    fn property_process(&mut self, property: Option<&Name>, processes: &[&ProcessDeclaration]) {
        if let Some(name) = property {
            match self.names.globals.get(&name.text) {
                Some(Symbol::Process(process)) => self.model.property = Some(*process),
                _ => {
                    let candidates = processes.iter().map(|p| p.name.text.as_str());
                    self.diagnostics
                        .error(name.span, format!("there is no process `{}`", name.text))
                        .suggest(&name.text, candidates);
                }
            }
        }
        let property = self.model.property;
        let ids = || (0..processes.len() as u32).map(ProcessId);
        for id in ids().filter(|id| Some(*id) != property) {
            self.declare_locals(processes[id.index()], id);
        }
        self.model.n_system_cells = self.model.cells.len();
        if let Some(id) = property {
            self.declare_locals(processes[id.index()], id);
            if let Some(kind) = &processes[id.index()].other_acceptance {
                self.diagnostics
                    .error(kind.span, format!("`{}` acceptance is not supported", kind.text))
                    .help("write the property with Büchi acceptance: `accept LOCATION, ...;`");
            }
        }
    }

    /// Adds a variable with its cells.
    pub(crate) fn add_variable(
        &mut self,
        name: &str,
        owner: Option<ProcessId>,
        kind: VariableKind,
        cells: impl IntoIterator<Item = (Interval, i32)>,
    ) -> VariableId {
        let id = VariableId(self.model.variables.len() as u32);
        let first = self.model.cells.len();
        self.model.cells.extend(cells.into_iter().map(|(allowed, initial)| Cell {
            variable: id,
            allowed,
            range: allowed,
            initial,
        }));
        self.initial_cells.extend(self.model.cells[first..].iter().map(|c| c.initial));
        let n_cells = (self.model.cells.len() - first) as u32;
        let variable = Variable { name: name.to_owned(), owner, kind, first: CellId(first as u32), n_cells };
        self.model.variables.push(variable);
        id
    }

    /// Whether so many cells still fit; reports it if not.
    pub(crate) fn check_cells(&mut self, more: usize, span: Span) -> bool {
        let fits = self.model.cells.len() + more <= CELLS_MAX;
        if !fits {
            self.diagnostics.error(span, format!("the state has more than {CELLS_MAX} elements"));
        }
        fits
    }

    fn declare_process(&mut self, declaration: &ProcessDeclaration) {
        let id = ProcessId(self.model.processes.len() as u32);
        self.names.processes.push(names::Scope::default());
        self.declare_global(&declaration.name, Symbol::Process(id));
        let locations = self.locations(declaration, id);
        self.model.processes.push(Process {
            name: declaration.name.text.clone(),
            location: CellId(0),
            locations,
            transitions: 0..0,
        });
    }
}
