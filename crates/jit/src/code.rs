//! From a plan to machine code in memory.

#![expect(unsafe_code, reason = "machine code is memory that is called")]

use crate::Unsupported;
use crate::element::ElementTable;
use crate::function::Emitter;
use crate::plan::Plan;
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa::OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use lariat_exec::Interpreter;
use std::mem::ManuallyDrop;

/// What compiled code tells about a value that was outside of its inferred range.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RangeBroken {
    /// Not 0 if there was one; for labels, if a proposition had no value.
    pub(crate) happened: u32,
    pub(crate) cell: u32,
    pub(crate) value: i32,
}

/// See `function.rs`: first row, end of rows, out, ends, start of out, context; returns the end of what was written.
pub(crate) type Expand =
    unsafe extern "C" fn(*const u8, *const u8, *mut u8, *mut u32, *const u8, *mut RangeBroken) -> *mut u8;
/// See `labels.rs`: first row, end of rows, out, context.
pub(crate) type Labels = unsafe extern "C" fn(*const u8, *const u8, *mut u64, *mut RangeBroken);

/// The code of a model.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
    pub(crate) expand: Expand,
    pub(crate) labels: Labels,
    /// Code refers to them by address.
    _tables: Vec<ElementTable>,
}

// SAFETY: after it was made the module is not touched before it is dropped; code and tables are only read.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Nobody has the code's addresses but this value, and whoever borrows it.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

fn generator(error: impl std::fmt::Display) -> Unsupported {
    Unsupported::Generator(error.to_string())
}

fn machine() -> Result<OwnedTargetIsa, Unsupported> {
    if cfg!(target_endian = "big") {
        return Err(Unsupported::Machine("its byte order".to_owned()));
    }
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", verify), ("is_pic", "false")] {
        flags.set(name, value).map_err(generator)?;
    }
    let isa = cranelift_native::builder().map_err(|why| Unsupported::Machine(why.to_owned()))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(generator)?;
    if isa.pointer_bits() != 64 {
        return Err(Unsupported::Machine("its word size".to_owned()));
    }
    Ok(isa)
}

struct Maker<'a> {
    module: JITModule,
    context: Context,
    builder: FunctionBuilderContext,
    tables: Vec<ElementTable>,
    interpreter: &'a Interpreter<'a>,
    plan: &'a Plan,
}

impl Code {
    pub(crate) fn new(interpreter: &Interpreter, plan: &Plan) -> Result<Self, Unsupported> {
        let module = JITModule::new(JITBuilder::with_isa(machine()?, default_libcall_names()));
        let context = module.make_context();
        let builder = FunctionBuilderContext::new();
        let mut maker = Maker { module, context, builder, tables: Vec::new(), interpreter, plan };
        let made = maker.make();
        let Maker { mut module, tables, .. } = maker;
        let finished = made.and_then(|ids| {
            module.finalize_definitions()?;
            Ok(ids)
        });
        let (expand, labels) = match finished {
            Ok(ids) => ids,
            Err(error) => {
                // SAFETY: none of its code was ever called.
                unsafe { module.free_memory() };
                return Err(generator(error));
            }
        };
        let (expand, labels) = (module.get_finalized_function(expand), module.get_finalized_function(labels));
        // SAFETY: the addresses are those of functions that were made with these signatures, in the machine's C convention.
        let (expand, labels) = unsafe {
            (std::mem::transmute::<*const u8, Expand>(expand), std::mem::transmute::<*const u8, Labels>(labels))
        };
        Ok(Self { module: ManuallyDrop::new(module), expand, labels, _tables: tables })
    }
}

impl Maker<'_> {
    fn signature(&self, n_parameters: usize, returns: bool) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params.extend((0..n_parameters).map(|_| AbiParam::new(types::I64)));
        signature.returns.extend(returns.then(|| AbiParam::new(types::I64)));
        signature
    }

    /// Makes all functions; returns those that are called from outside.
    fn make(&mut self) -> Result<(FuncId, FuncId), Box<ModuleError>> {
        let mut parts = Vec::new();
        if self.plan.groups.len() > 1 {
            let signature = self.signature(3, true);
            for (i, group) in self.plan.groups.iter().enumerate() {
                parts.push(self.function(&format!("moves{i}"), &signature, &[], |emitter, _| {
                    emitter.moves(group.clone());
                })?);
            }
        }
        let signature = self.signature(6, true);
        let expand = self.function("expand", &signature, &parts, |emitter, parts| emitter.expand(parts))?;
        let signature = self.signature(4, false);
        let interpreter = self.interpreter;
        let labels = self.function("labels", &signature, &[], |emitter, _| emitter.labels(interpreter.labels()))?;
        Ok((expand, labels))
    }

    fn function(
        &mut self,
        name: &str,
        signature: &Signature,
        calls: &[FuncId],
        body: impl FnOnce(&mut Emitter, &[cranelift_codegen::ir::FuncRef]),
    ) -> Result<FuncId, Box<ModuleError>> {
        let id = self.module.declare_function(name, Linkage::Local, signature)?;
        self.context.func.signature = signature.clone();
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let calls: Vec<_> = calls.iter().map(|call| self.module.declare_func_in_func(*call, builder.func)).collect();
        let (model, layout) = (self.interpreter.model(), self.interpreter.layout());
        let mut emitter = Emitter::new(builder, model, layout, self.plan, &mut self.tables);
        body(&mut emitter, &calls);
        emitter.b.seal_all_blocks();
        emitter.b.finalize(self.module.target_config());
        self.module.define_function(id, &mut self.context)?;
        self.module.clear_context(&mut self.context);
        Ok(id)
    }
}
