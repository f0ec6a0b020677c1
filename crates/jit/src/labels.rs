//! Labels as code: `labels(rows, end, out, context)` writes a word of bits for each row.
//!
//! A proposition without a value ends the search; it is only told here that there is one, and the interpreter says which and why.

use crate::function::Emitter;
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use lariat_exec::Label;
use lariat_model::Expression;

impl Emitter<'_, '_> {
    /// The body of `labels`.
    pub(crate) fn labels(&mut self, labels: &[Label]) {
        let [rows, end, out, _] = self.parameters[..] else { return };
        let (head, [row, out, _]) = self.loop_head([rows, out, rows]);
        let (body, done) = (self.b.create_block(), self.b.create_block());
        let at_end = self.b.ins().icmp(IntCC::Equal, row, end);
        self.b.ins().brif(at_end, done, &[], body, &[]);
        self.b.switch_to_block(done);
        self.b.ins().return_(&[]);

        self.b.switch_to_block(body);
        let state = self.load_row(row, true);
        let behind = self.b.create_block();
        let work = self.b.create_block();
        let bits = self.b.append_block_param(behind, types::I64);
        let in_error = labels.iter().enumerate().fold(0u64, |bits, (i, label)| {
            bits | u64::from(matches!(label, Label::AssertionFailed | Label::Error)) << i
        });
        let is_error = self.is_error(&state);
        let in_error = self.b.ins().iconst(types::I64, in_error as i64);
        self.b.ins().brif(is_error, behind, &[in_error.into()], work, &[]);
        self.b.switch_to_block(work);
        let mut word = self.b.ins().iconst(types::I64, 0);
        for (i, label) in labels.iter().enumerate() {
            let holds = self.label(label, &state);
            let bit = self.b.ins().uextend(types::I64, holds);
            let bit = self.b.ins().ishl_imm_u(bit, i as i64);
            word = self.b.ins().bor(word, bit);
        }
        self.b.ins().jump(behind, &[word.into()]);
        self.b.switch_to_block(behind);
        self.b.ins().store(MemFlagsData::trusted(), bits, out, 0);
        let next_row = self.b.ins().iadd_imm_u(row, self.layout.row_bytes() as i64);
        let next_out = self.b.ins().iadd_imm_u(out, 8);
        self.b.ins().jump(head, &[next_row.into(), next_out.into(), next_row.into()]);
    }

    fn label(&mut self, label: &Label, state: &State) -> Value {
        match label {
            Label::True(expression) => self.truth_or(expression, state, 1),
            Label::False(expression) => {
                let truth = self.truth_or(expression, state, 0);
                self.b.ins().bxor_imm_u(truth, 1)
            }
            Label::Proposition { expression, .. } => {
                let truth = self.truth_or(expression, state, 2);
                // 2 is neither: the caller is told, and the bit is of no use.
                let none = self.b.ins().ushr_imm_u(truth, 1);
                let told = self.b.ins().load(types::I8, MemFlagsData::trusted(), self.context, 0);
                let told = self.b.ins().bor(told, none);
                self.b.ins().store(MemFlagsData::trusted(), told, self.context, 0);
                self.b.ins().band_imm_u(truth, 1)
            }
            Label::AssertionFailed => self.assertion_failed(state),
            Label::Error => self.b.ins().iconst(types::I8, 0),
        }
    }

    fn assertion_failed(&mut self, state: &State) -> Value {
        let model = self.model;
        let mut any = self.b.ins().iconst(types::I8, 0);
        for assertion in model.assertions.iter().filter(|a| Some(a.process) != model.property) {
            let location = self.read(state, model.process(assertion.process).location);
            let here = self.b.ins().icmp_imm_u(IntCC::Equal, location, i64::from(assertion.location));
            let (ask, done) = (self.b.create_block(), self.b.create_block());
            let result = self.b.append_block_param(done, types::I8);
            self.b.ins().brif(here, ask, &[], done, &[any.into()]);
            self.b.switch_to_block(ask);
            let truth = self.truth_or(&assertion.expression, state, 0);
            let fails = self.b.ins().bxor_imm_u(truth, 1);
            let more = self.b.ins().bor(any, fails);
            self.b.ins().jump(done, &[more.into()]);
            self.b.switch_to_block(done);
            any = result;
        }
        any
    }

    /// Whether the expression is true, or `without` where it has no value.
    fn truth_or(&mut self, expression: &Expression, state: &State, without: i64) -> Value {
        let truth = self.condition(expression, state);
        let Some(fault) = self.fault.take() else { return truth };
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        self.b.ins().jump(done, &[truth.into()]);
        self.b.switch_to_block(fault);
        let without = self.b.ins().iconst(types::I8, without);
        self.b.ins().jump(done, &[without.into()]);
        self.b.switch_to_block(done);
        result
    }
}
