//! Bars of time, divided into what it went to.

use std::fmt::Write;
use std::path::Path;

const BAR_HEIGHT: usize = 18;
const LABEL_WIDTH: usize = 190;
const BARS_WIDTH: f64 = 640.0;
const COLOURS: [(&str, &str); 3] =
    [("#4878a8", "making successors"), ("#d98a3d", "finding duplicates"), ("#9a9a9a", "waiting for the disk")];

/// A search for states, as it is drawn.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The model.
    pub model: String,
    /// The search.
    pub search: &'static str,
    /// How long it took.
    pub seconds: f64,
    /// The same in times of the search in memory.
    pub of_ram: f64,
    /// Parts of the time: making successors, finding duplicates, waiting for the disk.
    pub parts: [f64; 3],
}

/// Draws bars, each model's to its own scale, into an HTML file.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(file: &Path, bars: &[Bar]) -> Result<(), String> {
    let mut svg = String::new();
    let mut y = 30;
    let mut x = LABEL_WIDTH;
    for (colour, what) in COLOURS {
        let _ = write!(svg, "<rect x='{x}' y='6' width='12' height='12' fill='{colour}'/>");
        let _ = write!(svg, "<text x='{}' y='16'>{what}</text>", x + 16);
        x += 170;
    }
    for (i, bar) in bars.iter().enumerate() {
        let longest =
            bars.iter().filter(|other| other.model == bar.model).map(|other| other.seconds).fold(0.0, f64::max);
        if i > 0 && bars[i - 1].model != bar.model {
            y += BAR_HEIGHT / 2;
        }
        let _ = write!(svg, "<text x='0' y='{}'>{}, {}</text>", y + 13, bar.model, bar.search);
        let mut x = LABEL_WIDTH as f64;
        for (part, (colour, _)) in bar.parts.iter().zip(COLOURS) {
            let width = part / longest * BARS_WIDTH;
            let _ = write!(
                svg,
                "<rect x='{x:.1}' y='{y}' width='{width:.1}' height='{}' fill='{colour}'/>",
                BAR_HEIGHT - 4
            );
            x += width;
        }
        let _ = write!(svg, "<text x='{:.0}' y='{}'>{:.1} s, {:.2}x</text>", x + 6.0, y + 13, bar.seconds, bar.of_ram);
        y += BAR_HEIGHT;
    }
    let page = format!(
        "<!doctype html><meta charset='utf-8'><title>Searches for states</title><h1>Searches for states</h1><p>Wall-clock time; each model to \
         its own scale; x: times the time of ram.</p><svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' \
         font-family='sans-serif' font-size='12'>{svg}</svg>",
        LABEL_WIDTH + BARS_WIDTH as usize + 140,
        y + 10
    );
    std::fs::write(file, page).map_err(|error| format!("{}: {error}", file.display()))
}
