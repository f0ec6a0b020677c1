//! Writing to the terminal. A reader that went away (`lariat ... | head`) is not an error.

use crate::failure::{ExitStatus, Failure};
use std::io::{self, BufWriter, Write};

/// Writes something long, part by part.
pub type Writing<'w> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'w;

/// Writes text to standard output.
pub fn text(text: &str) -> Result<(), Failure> {
    stream(&mut |out| out.write_all(text.as_bytes()))
}

/// Writes something long to standard output.
pub fn stream(write: &mut Writing<'_>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::machine(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes bytes to standard output and ends well.
pub fn bytes(bytes: &[u8]) -> Result<ExitStatus, Failure> {
    text(&String::from_utf8_lossy(bytes))?;
    Ok(ExitStatus::Fine)
}

/// Writes a note to standard error.
pub fn note(text: &str) {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(std::io::stderr().lock(), "note: {text}");
}

/// Writes an error to standard error. Messages about sources bring their own first word.
pub fn error(message: &str) {
    let message = message.trim_end();
    let prefix = if message.starts_with("error:") || message.starts_with("warning:") { "" } else { "error: " };
    let _ = writeln!(std::io::stderr().lock(), "{prefix}{message}");
}

/// Writes a file, whole or not at all: a file with this name is either the old one or complete.
pub fn file(path: &str, write: &mut Writing<'_>) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::machine(format!("cannot write {path}: {error}"));
    let temporary = format!("{path}.part");
    let written = std::fs::File::create(&temporary).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    });
    match written.and_then(|()| std::fs::rename(&temporary, path)) {
        Ok(()) => Ok(()),
        Err(error) => {
            // The part that was written is of no use to anybody.
            let _ = std::fs::remove_file(&temporary);
            Err(failed(error))
        }
    }
}
