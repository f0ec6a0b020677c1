//! Reading a model: the front end is chosen by the file's ending; macros are expanded first.

use crate::failure::Failure;
use crate::options::ModelSource;
use crate::output;
use lariat_lang::{Loaded, Source, StateExpression};
use lariat_m4::Define;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads and understands a model; warnings go to standard error unless `quiet`.
pub fn load(source: &ModelSource, quiet: bool) -> Result<Loaded, Failure> {
    let source = read_source(source)?;
    match lariat_lang::load(&source) {
        Ok(loaded) => {
            if !quiet && !loaded.warnings.is_empty() {
                let _ = write!(std::io::stderr().lock(), "{}", loaded.warnings.render(&source));
            }
            Ok(loaded)
        }
        Err(diagnostics) => Err(Failure::input(diagnostics.render(&source))),
    }
}

/// Reads an expression over a model.
pub fn expression(option: &str, text: &str, loaded: &Loaded) -> Result<StateExpression, Failure> {
    StateExpression::parse(option, text, &loaded.model, &loaded.names)
        .map_err(|(source, diagnostics)| Failure::input(diagnostics.render(&source)))
}

fn read_source(source: &ModelSource) -> Result<Source, Failure> {
    let path = &source.model;
    let ending = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    match ending {
        "dve" => {
            if let Some(define) = source.defines.first() {
                return Err(Failure::input(format!(
                    "-D {define}: only .mdve models have parameters, and this is {path}"
                )));
            }
            Ok(Source::new(path.as_str(), read_text(path)?))
        }
        "mdve" => expand(source, read_text(path)?),
        _ => Err(Failure::input(format!(
            "{path}: Lariat reads DVE models, whose names end in .dve, or in .mdve if they have m4 macros"
        ))),
    }
}

/// Reads a text file.
pub fn read_text(path: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("cannot read {path}: {error}"));
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(Failure::input(format!("cannot read {path}: it is a directory")));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(Failure::input(format!("{path} is too large ({} bytes)", metadata.len())));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(Failure::input(format!("{path} is not a text file: there is a zero byte at offset {at}")));
    }
    // Comments in old models are in all kinds of encodings.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn defines(source: &ModelSource) -> Result<Vec<Define>, Failure> {
    source
        .defines
        .iter()
        .map(|text| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let name_characters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if name.is_empty() || !name_characters || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(Failure::input(format!("-D {text}: write NAME=VALUE")));
            }
            Ok(Define { name: name.to_owned(), value: value.to_owned() })
        })
        .collect()
}

fn expand(source: &ModelSource, text: String) -> Result<Source, Failure> {
    let path = &source.model;
    let defines = defines(source)?;
    if let Some(program) = &source.m4 {
        let expanded = run_m4(program, path, &defines, &text)?;
        // The program does not tell where lines come from; they count as they come out.
        return Ok(Source::new(format!("{path} (after {program})"), expanded));
    }
    let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
    let mut include = |name: &str| {
        let file = folder.join(name);
        std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))
    };
    match lariat_m4::expand_model(&text, &defines, &mut include) {
        Ok(expansion) => Ok(Source::expanded(path.as_str(), expansion.text, expansion.origins)),
        Err(error) => {
            let line = text.lines().nth(error.line.saturating_sub(1) as usize).unwrap_or("");
            let margin = error.line.to_string().len();
            Err(Failure::input(format!(
                "error: {}\n  --> {path}:{}\n{:margin$} |\n{} | {line}",
                error.message, error.line, "", error.line
            )))
        }
    }
}

fn run_m4(program: &str, path: &str, defines: &[Define], text: &str) -> Result<String, Failure> {
    let mut command = Command::new(program);
    for define in defines {
        command.arg(format!("-D{}={}", define.name, define.value));
    }
    let folder = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(folder) = folder {
        command.arg("-I").arg(folder);
    }
    command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| Failure::input(format!("cannot run {program}: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let input = format!("divert(-1)\n{}\ndivert(0)dnl\n{text}", lariat_m4::PREAMBLE);
    let feeder = child.stdin.take().map(|mut stdin| {
        // A program that stops reading early says why on its standard error.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())))
    });
    let result = child.wait_with_output().map_err(failed)?;
    if let Some(feeder) = feeder {
        drop(feeder.join());
    }
    if !result.status.success() {
        let why = String::from_utf8_lossy(&result.stderr).into_owned();
        return Err(Failure::input(format!("{program} could not expand {path}:\n{why}")));
    }
    if !result.stderr.is_empty() {
        output::note(String::from_utf8_lossy(&result.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&result.stdout).into_owned())
}
