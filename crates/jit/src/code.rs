//! From a plan to machine code in memory.
//!
//! Functions are compiled apart from each other, by several threads where there is much to do, and put together at the end.

#![expect(unsafe_code, reason = "machine code is memory that is called")]

use crate::Unsupported;
use crate::element::Tables;
use crate::function::{Emitter, Setting};
use crate::threads;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, ExtFuncData, ExternalName, FuncRef, Function, Signature, UserExternalName, UserFuncName, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, default_libcall_names};
use lariat_exec::Label;
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

/// Functions and what they do.
type Named = Vec<(Role, FuncId)>;

/// The code of a model.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
    functions: Named,
    /// Code refers to them by address.
    _tables: Vec<Tables>,
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

fn machine(in_memory: bool) -> Result<OwnedTargetIsa, Unsupported> {
    if cfg!(target_endian = "big") {
        return Err(Unsupported::Machine("its byte order".to_owned()));
    }
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    // The code for wide rows, which are never in registers as a whole, gains nothing.
    let level = if in_memory { "none" } else { "speed" };
    for (name, value) in [("opt_level", level), ("enable_verifier", verify), ("is_pic", "false")] {
        flags.set(name, value).map_err(generator)?;
    }
    let isa = cranelift_native::builder().map_err(|why| Unsupported::Machine(why.to_owned()))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(generator)?;
    if isa.pointer_bits() != 64 {
        return Err(Unsupported::Machine("its word size".to_owned()));
    }
    Ok(isa)
}

/// What a function does; see `function.rs`, `labels.rs`, `copy.rs`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Copy,
    /// The moves of the group with this number.
    Moves(usize),
    Expand,
    Labels,
}

impl Role {
    fn name(&self) -> String {
        match self {
            Role::Copy => "copy".to_owned(),
            Role::Moves(group) => format!("moves{group}"),
            Role::Expand => "expand".to_owned(),
            Role::Labels => "labels".to_owned(),
        }
    }

    fn signature(&self, isa: &OwnedTargetIsa) -> Signature {
        let (n_parameters, returns) = match self {
            Role::Copy => (2, false),
            Role::Moves(_) => (3, true),
            Role::Expand => (6, true),
            Role::Labels => (4, false),
        };
        // Whoever copies a row keeps all registers.
        let convention = if let Role::Copy = self { CallConv::PreserveAll } else { isa.default_call_conv() };
        let mut signature = Signature::new(convention);
        signature.params.extend((0..n_parameters).map(|_| AbiParam::new(types::I64)));
        signature.returns.extend(returns.then(|| AbiParam::new(types::I64)));
        signature
    }
}

/// A function that is to be made.
struct Planned {
    id: FuncId,
    role: Role,
    signature: Signature,
}

/// A function that was made.
struct Made {
    id: FuncId,
    bytes: Vec<u8>,
    alignment: u64,
    relocations: Vec<ModuleReloc>,
}

impl Code {
    /// Makes functions with these roles, and those that they call.
    pub(crate) fn new(setting: Setting, roles: &[Role], labels: &[Label]) -> Result<Self, Unsupported> {
        let isa = machine(setting.in_memory)?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
        let made = Maker::new(&mut module, setting, roles, labels, isa).and_then(|maker| maker.make(&mut module));
        match made {
            Ok((functions, tables)) => Ok(Self { module: ManuallyDrop::new(module), functions, _tables: tables }),
            Err(error) => {
                // SAFETY: none of its code was ever called.
                unsafe { module.free_memory() };
                Err(error)
            }
        }
    }

    /// Where the function with this role is, with the signature of the role and in the machine's C convention. It is there as long as
    /// this is.
    pub(crate) fn address(&self, role: &Role) -> Result<*const u8, Unsupported> {
        let function = self.functions.iter().find(|(known, _)| known == role);
        let (_, id) = function.ok_or_else(|| generator("a function is missing"))?;
        Ok(self.module.get_finalized_function(*id))
    }
}

/// Makes the functions of a model.
struct Maker<'a> {
    isa: OwnedTargetIsa,
    setting: Setting<'a>,
    labels: &'a [Label],
    functions: Vec<Planned>,
}

impl<'a> Maker<'a> {
    fn new(
        module: &mut JITModule,
        setting: Setting<'a>,
        roles: &[Role],
        labels: &'a [Label],
        isa: OwnedTargetIsa,
    ) -> Result<Self, Unsupported> {
        let mut functions = Vec::with_capacity(roles.len());
        for role in roles {
            let signature = role.signature(&isa);
            let id = module.declare_function(&role.name(), Linkage::Local, &signature).map_err(generator)?;
            functions.push(Planned { id, role: role.clone(), signature });
        }
        Ok(Self { isa, setting, labels, functions })
    }

    /// Makes all functions.
    fn make(&self, module: &mut JITModule) -> Result<(Named, Vec<Tables>), Unsupported> {
        let n_moves = self.setting.plan.n_moves;
        let (made, workers) = threads::compile(self.functions.len(), n_moves, |i, worker: &mut Worker| {
            self.function(&self.functions[i], worker).map_err(generator)
        })?;
        for function in made {
            let Made { id, bytes, alignment, relocations } = function;
            module.define_function_bytes(id, alignment, &bytes, &relocations).map_err(generator)?;
        }
        module.finalize_definitions().map_err(generator)?;
        let functions = self.functions.iter().map(|function| (function.role.clone(), function.id)).collect();
        Ok((functions, workers.into_iter().map(|worker| worker.tables).collect()))
    }

    fn function(&self, planned: &Planned, worker: &mut Worker) -> Result<Made, CodegenError> {
        let Worker { context, builder, tables } = worker;
        context.func.signature = planned.signature.clone();
        context.func.name = UserFuncName::user(0, planned.id.as_u32());
        let mut moves = Vec::new();
        let mut copy = None;
        for other in &self.functions {
            match (&planned.role, &other.role) {
                (Role::Expand, Role::Moves(_)) => moves.push(import(&mut context.func, other)),
                (Role::Expand | Role::Moves(_) | Role::Labels, Role::Copy) => {
                    copy = Some(import(&mut context.func, other));
                }
                _ => {}
            }
        }
        let mut emitter = Emitter::new(FunctionBuilder::new(&mut context.func, builder), self.setting, tables);
        emitter.copy = copy;
        match &planned.role {
            Role::Copy => emitter.copy_function(),
            Role::Moves(group) => emitter.moves(*group),
            Role::Expand => emitter.expand(&moves),
            Role::Labels => emitter.labels(self.labels),
        }
        emitter.b.seal_all_blocks();
        emitter.b.finalize(self.isa.frontend_config());
        context.compile(&*self.isa, &mut ControlPlane::default()).map_err(|error| error.inner)?;
        let made = context.compiled_code().map(|code| Made {
            id: planned.id,
            bytes: code.code_buffer().to_vec(),
            alignment: u64::from(code.buffer.alignment),
            relocations: code
                .buffer
                .relocs()
                .iter()
                .map(|relocation| ModuleReloc::from_mach_reloc(relocation, &context.func, planned.id))
                .collect(),
        });
        context.clear();
        made.ok_or_else(|| CodegenError::Unsupported("no code".to_owned()))
    }
}

fn import(function: &mut Function, other: &Planned) -> FuncRef {
    let name = UserExternalName { namespace: 0, index: other.id.as_u32() };
    let name = ExternalName::user(function.declare_imported_user_function(name));
    let signature = function.import_signature(other.signature.clone());
    function.import_function(ExtFuncData { name, signature, colocated: true, patchable: false })
}

/// The space that a thread works with, and the tables that its code refers to.
struct Worker {
    context: Context,
    builder: FunctionBuilderContext,
    tables: Tables,
}

impl Default for Worker {
    fn default() -> Self {
        Self { context: Context::new(), builder: FunctionBuilderContext::new(), tables: Tables::default() }
    }
}
