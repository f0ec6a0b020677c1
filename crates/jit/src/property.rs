//! The property process as machine code: the same watcher as the interpreter's, move by move.

#![expect(unsafe_code, reason = "machine code is called, and writes into buffers without checking their size")]

use crate::Unsupported;
use crate::code::{Code, RangeBroken, Role};
use crate::compiled::BYTES_BEHIND;
use crate::function::Setting;
use crate::plan::Plan;
use lariat_exec::{Field, PropertyProcess};
use lariat_graph::{GraphError, Mover, RowBuffer, Strength, Watcher};

/// See `function.rs`: the state, out, context; returns the end of what was written.
type Moves = unsafe extern "C" fn(*const u8, *mut u8, *mut RangeBroken) -> *mut u8;

/// A property process, compiled.
pub struct CompiledProperty<'m> {
    process: PropertyProcess<'m>,
    moves: Moves,
    /// The function is part of it.
    _code: Code,
    /// The most moves out of a state.
    moves_max: usize,
}

impl<'m> CompiledProperty<'m> {
    /// Compiles the moves of a property process.
    pub fn new(process: PropertyProcess<'m>) -> Result<Self, Unsupported> {
        let fields = fields(&process);
        let plan = Plan::of_property(&process, &fields)?;
        let role = Role::Moves(0);
        let setting = Setting::of_property(&process, &plan, &fields);
        let code = Code::new(setting, std::slice::from_ref(&role), &[])?;
        let moves = code.address(&role)?;
        // SAFETY: this is the function's signature, and the code lives as long as what is made of it here.
        let moves = unsafe { std::mem::transmute::<*const u8, Moves>(moves) };
        Ok(Self { process, moves, _code: code, moves_max: plan.successors_max })
    }

    /// Where the process's own row begins in a state: behind the system's, in whole words.
    fn own_start(&self) -> usize {
        self.process.system().row_bytes().next_multiple_of(8)
    }
}

/// The fields of the system, and behind them those of the process.
fn fields(process: &PropertyProcess) -> Vec<Field> {
    let first_bit = process.system().row_bytes().next_multiple_of(8) as u32 * 8;
    let own = process.layout().fields().iter().map(|field| Field { bit: first_bit + field.bit, ..*field });
    process.system().fields().iter().copied().chain(own).collect()
}

impl Watcher for CompiledProperty<'_> {
    fn part_bytes(&self) -> usize {
        self.process.part_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        self.process.initial(out);
    }

    fn is_accepting(&self, part: &[u8]) -> bool {
        self.process.is_accepting(part)
    }

    fn strength(&self) -> Strength {
        self.process.strength()
    }

    fn describe(&self, part: &[u8]) -> String {
        self.process.describe(part)
    }

    fn mover(&self) -> Box<dyn Mover + '_> {
        let n_bytes = self.own_start() + self.part_bytes().next_multiple_of(8) + BYTES_BEHIND;
        Box::new(Moving { property: self, state: vec![0; n_bytes] })
    }
}

struct Moving<'c, 'm> {
    property: &'c CompiledProperty<'m>,
    /// The system's row and the process's own, each in whole words, and space behind.
    state: Vec<u8>,
}

impl Mover for Moving<'_, '_> {
    fn look(&mut self, row: &[u8], _labels: u64) {
        assert_eq!(row.len(), self.property.process.system().row_bytes(), "a row of another graph");
        self.state[..row.len()].copy_from_slice(row);
    }

    fn moves(&mut self, part: &[u8], out: &mut RowBuffer) -> Result<(), GraphError> {
        let property = self.property;
        let width = property.part_bytes();
        assert_eq!(part.len(), width, "a part of another watcher");
        self.state[property.own_start()..][..width].copy_from_slice(part);
        let mut context = RangeBroken::default();
        let bytes = out.bytes_mut();
        assert!(bytes.len().is_multiple_of(width), "parts of another watcher");
        bytes.reserve(property.moves_max * width + BYTES_BEHIND);
        // SAFETY: the code reads within `state`, which has space behind. It writes no more than `moves_max` parts, and the bytes behind
        // the last, for which there is room behind what `bytes` holds, without gaps from where its length is now.
        unsafe {
            let start = bytes.as_mut_ptr();
            let end = (property.moves)(self.state.as_ptr(), start.add(bytes.len()), &raw mut context);
            if context.happened == 0 {
                bytes.set_len(end.offset_from_unsigned(start));
                return Ok(());
            }
        }
        // Something has no value, or a range is broken: the interpreter says what and why.
        let mut mover = property.process.mover();
        let system_bytes = property.process.system().row_bytes();
        mover.look(&self.state[..system_bytes], 0);
        mover.moves(part, out)
    }
}
