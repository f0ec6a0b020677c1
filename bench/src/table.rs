//! Tables whose rows are printed as they come.

use std::io::Write;

/// A column: its title, and how wide it is at least. The first column is aligned left, the others right.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What stands above it.
    pub title: &'static str,
    /// The least width of its cells.
    pub width: usize,
}

/// A table with fixed columns.
#[derive(Clone, Debug)]
pub struct Table {
    widths: Vec<usize>,
}

impl Table {
    /// Prints the titles. Columns are as wide as their titles at least.
    pub fn start(columns: &[Column]) -> Self {
        let widths = columns.iter().map(|c| c.width.max(c.title.chars().count())).collect();
        let table = Self { widths };
        let titles: Vec<String> = columns.iter().map(|c| c.title.to_owned()).collect();
        table.row(&titles);
        let rules: Vec<String> = table.widths.iter().map(|&width| "-".repeat(width)).collect();
        table.row(&rules);
        table
    }

    /// Prints a row.
    pub fn row(&self, cells: &[String]) {
        println!("{}", self.line(cells));
        // Whoever waits for a long table wants to see each row at once, also through a pipe.
        let _ = std::io::stdout().flush();
    }

    /// Prints a remark that belongs to the row above it.
    pub fn remark(&self, text: &str) {
        println!("    {text}");
        let _ = std::io::stdout().flush();
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = String::new();
        for (i, (cell, &width)) in cells.iter().zip(&self.widths).enumerate() {
            let cell = match i {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
            line.push_str(&cell);
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned() {
        let table = Table { widths: vec![6, 4, 3] };
        let cells = ["at.1", "12", "x"].map(str::to_owned);
        assert_eq!(table.line(&cells), "at.1      12    x");
        assert_eq!(table.line(&cells[..1]), "at.1");
    }
}
