//! Files for traces, in the form that their ending asks for.

use crate::failure::Failure;
use crate::output;
use lariat_base::trace::Trace;

/// How a trace file is written.
#[derive(Clone, Copy)]
enum Format {
    Text,
    Itf,
    Dot,
}

fn format(file: &str) -> Result<Format, Failure> {
    match std::path::Path::new(file).extension().and_then(|e| e.to_str()) {
        Some("txt") => Ok(Format::Text),
        Some("json") => Ok(Format::Itf),
        Some("dot") => Ok(Format::Dot),
        _ => Err(Failure::input(format!("--trace {file}: the name must end in .txt, .itf.json, .json or .dot"))),
    }
}

/// Whether the file's ending names a format.
pub fn check_name(file: &str) -> Result<(), Failure> {
    format(file).map(|_| ())
}

/// Writes a trace in the form that the file's ending asks for.
pub fn write(file: &str, trace: &Trace) -> Result<(), Failure> {
    let format = format(file)?;
    output::file(file, &mut |out| match format {
        Format::Text => lariat_report::trace_text(trace, out),
        Format::Itf => lariat_report::trace_itf(trace, out),
        Format::Dot => lariat_report::trace_dot(trace, out),
    })
}

/// The first trace goes to the file itself, further ones to files with their number before the ending.
pub fn write_numbered(file: &str, n_before: usize, trace: &Trace) -> Result<String, Failure> {
    let name = match n_before {
        0 => file.to_owned(),
        n => {
            let ending =
                if file.ends_with(".itf.json") { ".itf.json".len() } else { file.len() - file.rfind('.').unwrap_or(0) };
            let (stem, ending) = file.split_at(file.len() - ending);
            format!("{stem}.{}{ending}", n + 1)
        }
    };
    write(&name, trace)?;
    Ok(name)
}
