//! Random DVE models: small, valid, and full of the corners of the language.

use lariat_base::Random;
use std::fmt::Write;

/// The text of the model that `seed` names.
pub fn random_model(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), out: String::new(), n_processes: 0, process: None };
    writer.model();
    writer.out
}

/// The same model with a property process beside it.
pub fn random_model_with_property(seed: u64) -> String {
    let text = random_model(seed);
    let n_processes = text.matches("process P").count();
    let mut writer = Writer { random: Random::new(!seed), out: String::new(), n_processes, process: None };
    writer.property();
    let (model, system) = text.split_at(text.rfind("system").unwrap_or(text.len()));
    format!("{model}{}{} property L;\n", writer.out, system.trim_end().trim_end_matches(';'))
}

struct Writer {
    random: Random,
    out: String,
    n_processes: usize,
    /// The process that is being written.
    process: Option<usize>,
}

const N_LOCATIONS: usize = 3;

impl Writer {
    fn model(&mut self) {
        self.n_processes = 2 + self.random.below(2);
        let initial = self.random.below(3);
        let _ = writeln!(self.out, "const byte k = {};\nconst int table[3] = {{1, -2, 3}};", 1 + self.random.below(3));
        let _ = writeln!(self.out, "byte x = {initial};\nint y = -1;\nbyte a[3] = {{1, 2}};");
        let capacity = self.random.below(3);
        let _ = writeln!(self.out, "channel c, d;\nchannel {{byte, int}} q[{capacity}];");
        for process in 0..self.n_processes {
            self.process(process);
        }
        let synchronous = self.random.one_in(6);
        self.out.push_str(if synchronous { "system sync;\n" } else { "system async;\n" });
    }

    fn process(&mut self, number: usize) {
        self.process = Some(number);
        let _ = writeln!(
            self.out,
            "process P{number} {{\n  byte i;\n  int j = {};\n  state s0, s1, s2;\n  init s0;",
            number
        );
        if self.random.one_in(8) {
            let _ = writeln!(self.out, "  commit s{};", self.random.below(N_LOCATIONS));
        }
        if self.random.one_in(3) {
            let location = self.random.below(N_LOCATIONS);
            let expression = self.expression(2);
            let _ = writeln!(self.out, "  assert s{location}: {expression};");
        }
        self.out.push_str("  trans\n");
        let n = 4 + self.random.below(4);
        for i in 0..n {
            self.transition(i == 0);
            self.out.push_str(if i + 1 == n { ";\n}\n" } else { ",\n" });
        }
    }

    /// A process that reads everything and writes what is its own.
    fn property(&mut self) {
        self.out.push_str("process L {\n  byte i;\n  int j = 1;\n  byte b[3];\n  state s0, s1, s2;\n  init s0;\n  accept s1;\n  trans\n");
        let n = 5 + self.random.below(4);
        for i in 0..n {
            let (from, to) = (self.random.below(N_LOCATIONS), self.random.below(N_LOCATIONS));
            let _ = write!(self.out, "    s{from} -> s{to} {{");
            if self.random.one_in(2) {
                let guard = self.guard();
                let _ = write!(self.out, " guard {guard};");
            }
            if self.random.one_in(2) {
                let target = ["i", "j", "b[i]", "b[1]"][self.random.below(4)];
                let value = self.value();
                let _ = write!(self.out, " effect {target} = {value}, i = (i + 1) % 3;");
            }
            self.out.push_str(if i + 1 == n { " };\n}\n" } else { " },\n" });
        }
    }

    fn transition(&mut self, first: bool) {
        let to = self.random.below(N_LOCATIONS);
        if first || !self.random.one_in(4) {
            let from = self.random.below(N_LOCATIONS);
            let _ = write!(self.out, "    s{from} -> s{to} {{");
        } else {
            let _ = write!(self.out, "    -> s{to} {{");
        }
        if self.random.one_in(2) {
            let guard = self.guard();
            let _ = write!(self.out, " guard {guard};");
        }
        self.synchronisation();
        let n_effects = self.random.below(3);
        for i in 0..n_effects {
            let target = self.target();
            let value = self.value();
            let _ = write!(self.out, "{} {target} = {value}", if i == 0 { " effect" } else { "," });
        }
        self.out.push_str(if n_effects > 0 { "; }" } else { " }" });
    }

    fn synchronisation(&mut self) {
        let mark = if self.random.one_in(2) { "!" } else { "?" };
        match self.random.below(12) {
            0 | 1 => {
                let _ = write!(self.out, " sync c{mark};");
            }
            2 => {
                let value = if mark == "!" { self.value() } else { self.target() };
                let _ = write!(self.out, " sync d{mark}{value};");
            }
            3 => {
                let (one, two) =
                    if mark == "!" { (self.value(), self.value()) } else { (self.target(), self.target()) };
                let _ = write!(self.out, " sync q{mark}{{{one}, {two}}};");
            }
            _ => {}
        }
    }

    fn target(&mut self) -> String {
        match self.random.below(7) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => "i".to_owned(),
            3 => "j".to_owned(),
            4 => "a".to_owned(),
            _ => format!("a[{}]", self.small()),
        }
    }

    /// Mostly a comparison, which is true often enough for the model to move.
    fn guard(&mut self) -> String {
        if self.random.one_in(3) {
            return self.expression(2);
        }
        let operator = ["<", "<=", ">=", "!=", "=="][self.random.below(5)];
        format!("{} {operator} {}", self.leaf(), self.leaf())
    }

    /// A value that mostly stays small, so that the state space does.
    fn value(&mut self) -> String {
        if self.random.one_in(12) {
            return self.expression(2);
        }
        if self.random.one_in(2) {
            return format!(
                "({} + 1) % {}",
                ["x", "i", "j", "a[0]", "a[1]"][self.random.below(5)],
                2 + self.random.below(4)
            );
        }
        format!("({}) % {}", self.expression(1), 2 + self.random.below(3))
    }

    fn small(&mut self) -> String {
        match self.random.below(4) {
            0 => "i".to_owned(),
            1 => format!("({}) % 3", self.expression(1)),
            _ => self.random.below(3).to_string(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(4) {
            return self.leaf();
        }
        const OPERATORS: [&str; 21] = [
            "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||", "and",
            "or", "imply",
        ];
        match self.random.below(8) {
            0 => format!("not {}", self.leaf()),
            1 => format!("-{}", self.leaf()),
            2 => format!("~{}", self.leaf()),
            3 => format!("({})", self.expression(depth - 1)),
            _ => {
                let operator = OPERATORS[self.random.below(OPERATORS.len())];
                format!("{} {operator} {}", self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }

    fn leaf(&mut self) -> String {
        match self.random.below(12) {
            0 | 1 => "x".to_owned(),
            2 => "y".to_owned(),
            3 => "i".to_owned(),
            4 => "j".to_owned(),
            5 => format!("a[{}]", self.random.below(3)),
            6 => "a[i]".to_owned(),
            7 => format!("P{}.s{}", self.random.below(self.n_processes), self.random.below(N_LOCATIONS)),
            8 => "k".to_owned(),
            9 => format!("table[{}]", self.random.below(3)),
            10 => (if self.random.one_in(2) { "true" } else { "false" }).to_owned(),
            _ => self.random.below(5).to_string(),
        }
    }
}
