//! The compiled model as a graph.

#![expect(unsafe_code, reason = "machine code is called, and writes into buffers without checking their size")]

use crate::Unsupported;
use crate::code::{Code, RangeBroken, Role};
use crate::function::Setting;
use crate::plan::Plan;
use crate::together::{Space, Together};
use lariat_exec::Interpreter;
use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
use lariat_model::CellId;

/// Rows that are expanded by one call; room for all their successors is made before...
const ROWS_PER_CALL: usize = 64;
/// ... and is no larger than this, unless those of one row need it.
const ROOM_MAX: usize = 4 << 20;
/// Rows are stored in whole words, so something may be written behind the last.
pub(crate) const BYTES_BEHIND: usize = 8;

/// See `function.rs`: first row, end of rows, out, ends, start of out, context; returns the end of what was written.
type Expand = unsafe extern "C" fn(*const u8, *const u8, *mut u8, *mut u32, *const u8, *mut RangeBroken) -> *mut u8;
/// See `labels.rs`: first row, end of rows, out, context.
type Labels = unsafe extern "C" fn(*const u8, *const u8, *mut u64, *mut RangeBroken);

/// A model as machine code: the same graph as its interpreter's.
pub struct Compiled<'i, 'm> {
    interpreter: &'i Interpreter<'m>,
    expand: Expand,
    labels: Labels,
    /// The functions are part of it.
    _code: Code,
    successors_max: usize,
    /// For synchronous systems, whose code makes choices.
    together: Option<Together>,
}

impl<'i, 'm> Compiled<'i, 'm> {
    /// Compiles the interpreter's model and labels.
    pub fn new(interpreter: &'i Interpreter<'m>) -> Result<Self, Unsupported> {
        let plan = Plan::new(interpreter.model(), interpreter.layout())?;
        let setting = Setting::of_system(interpreter.model(), interpreter.layout(), &plan);
        let code = Code::new(setting, &setting.roles(), interpreter.labels())?;
        let (expand, labels) = (code.address(&Role::Expand)?, code.address(&Role::Labels)?);
        // SAFETY: these are the functions' signatures, and the code lives as long as what is made of them here.
        let (expand, labels) = unsafe {
            (std::mem::transmute::<*const u8, Expand>(expand), std::mem::transmute::<*const u8, Labels>(labels))
        };
        let together = plan.synchronous.then(|| Together::new(&plan, interpreter.layout().error_row()));
        Ok(Self { interpreter, expand, labels, _code: code, successors_max: plan.successors_max, together })
    }

    /// Appends the edges of rows, unless `context` tells afterwards that a range is broken.
    fn expand(&self, from: Rows<'_>, out: &mut Edges, scratch: &mut Scratch, context: &mut RangeBroken) {
        let width = self.interpreter.row_bytes();
        assert_eq!(from.width(), width, "rows of another graph");
        let rows_per_call = (ROOM_MAX / (self.successors_max * width).max(1)).clamp(1, ROWS_PER_CALL);
        for rows in from.bytes().chunks(rows_per_call * width) {
            if out.is_full() || context.happened != 0 {
                return;
            }
            let Some(together) = &self.together else {
                let (targets, ends) = out.parts_mut();
                assert!(targets.len().is_multiple_of(width), "edges of another graph");
                self.run(rows, width, targets, ends, context);
                continue;
            };
            let Scratch { choices, ends, space } = scratch;
            choices.clear();
            ends.clear();
            self.run(rows, together.stride(), choices, ends, context);
            let mut rest = &mut choices[..];
            let mut start = 0;
            for (row, end) in rows.chunks_exact(width).zip(ends) {
                let own;
                (own, rest) = rest.split_at_mut((*end - start) as usize * together.stride());
                start = *end;
                if out.is_full() {
                    return;
                }
                together.push(row, own, space, out);
            }
        }
    }

    /// Has the code append what it makes of rows, which is `stride` bytes each, and for each row the number of all up to its last.
    fn run(&self, rows: &[u8], stride: usize, out: &mut Vec<u8>, ends: &mut Vec<u32>, context: &mut RangeBroken) {
        let n_rows = rows.len() / self.interpreter.row_bytes();
        out.reserve(n_rows * self.successors_max * stride + BYTES_BEHIND);
        ends.reserve(n_rows);
        let range = rows.as_ptr_range();
        let n_before = out.len();
        // SAFETY: the code reads whole rows of `rows`. It writes no more than `successors_max` times `stride` bytes for each, and the
        // bytes behind the last, for which there is room behind what `out` holds; and one number for each row, for which there is
        // room in `ends`. Both are written without gaps from where the lengths are now; not all of it where a range is broken.
        unsafe {
            let start = out.as_mut_ptr();
            let first_end = ends.as_mut_ptr().add(ends.len());
            let end = (self.expand)(range.start, range.end, start.add(n_before), first_end, start, context);
            if context.happened == 0 {
                out.set_len(end.offset_from_unsigned(start));
                ends.set_len(ends.len() + n_rows);
            }
        }
    }

    /// Appends the labels of rows; false if a proposition has no value in one of them.
    fn labels(&self, rows: Rows<'_>, out: &mut Vec<u64>) -> bool {
        assert_eq!(rows.width(), self.interpreter.row_bytes(), "rows of another graph");
        out.reserve(rows.len());
        let range = rows.bytes().as_ptr_range();
        let mut context = RangeBroken::default();
        // SAFETY: the code reads whole rows and writes one word for each, for which there is room behind what `out` holds.
        unsafe {
            (self.labels)(range.start, range.end, out.as_mut_ptr().add(out.len()), &raw mut context);
            out.set_len(out.len() + rows.len());
        }
        context.happened == 0
    }
}

impl Graph for Compiled<'_, '_> {
    fn row_bytes(&self) -> usize {
        self.interpreter.row_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        self.interpreter.initial(out);
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        Box::new(Running { graph: self, scratch: Scratch::default() })
    }

    fn is_error(&self, row: &[u8]) -> bool {
        self.interpreter.is_error(row)
    }
}

/// Space for the choices of synchronous systems.
#[derive(Default)]
struct Scratch {
    choices: Vec<u8>,
    ends: Vec<u32>,
    space: Space,
}

struct Running<'g, 'i, 'm> {
    graph: &'g Compiled<'i, 'm>,
    scratch: Scratch,
}

impl Expander for Running<'_, '_, '_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        let graph = self.graph;
        if graph.together.is_none() && graph.successors_max * from.width() > out.most_bytes() {
            // The code makes all successors of a row before anybody can see that there are too many.
            return graph.interpreter.expander().expand(from, out);
        }
        let mut broken = RangeBroken::default();
        graph.expand(from, out, &mut self.scratch, &mut broken);
        if out.has_overflowed() {
            return Err(GraphError::TooManySuccessors { most_bytes: out.most_bytes() });
        }
        if broken.happened == 0 {
            return Ok(());
        }
        let model = self.graph.interpreter.model();
        let cell = CellId(broken.cell);
        Err(GraphError::RangeBroken {
            cell: model.cell_name(cell),
            value: broken.value,
            range: model.cells[cell.index()].range.to_string(),
        })
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        let before = out.len();
        if self.graph.labels(rows, out) {
            return Ok(());
        }
        out.truncate(before);
        self.graph.interpreter.expander().labels(rows, out)
    }
}
