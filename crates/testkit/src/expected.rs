//! The expected facts of our own models: `models/expected.toml`.

use std::path::PathBuf;
use toml::Value;

/// A model with parameters, and what is known about it.
#[derive(Clone, Debug)]
pub struct ExpectedCase {
    /// The file in `models/`.
    pub model: String,
    /// The parameters.
    pub parameters: Vec<(String, String)>,
    /// Reachable states.
    pub states: u64,
    /// Edges.
    pub transitions: u64,
    /// Non-empty BFS levels.
    pub levels: u64,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Whether the error state is reachable.
    pub error: bool,
    /// Properties of states and their verdicts.
    pub checks: Vec<ExpectedCheck>,
    /// Property processes of the model, their verdicts, and the products with them.
    pub products: Vec<ExpectedProduct>,
}

/// A property process, its verdict, and the size of its product with the system.
#[derive(Clone, Debug)]
pub struct ExpectedProduct {
    /// The process.
    pub property: String,
    /// `holds` or `violated`.
    pub verdict: String,
    /// States of the product.
    pub states: u64,
    /// Edges of the product.
    pub transitions: u64,
    /// Accepting states of the product.
    pub accepting: u64,
}

/// A property and its verdict.
#[derive(Clone, Debug)]
pub struct ExpectedCheck {
    /// The options of `lariat check` that ask for it.
    pub options: Vec<String>,
    /// `holds` or `violated`.
    pub verdict: String,
    /// Steps of the shortest counterexample.
    pub length: Option<u64>,
}

/// The folder with our models.
pub fn models_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// All cases of `models/expected.toml`.
pub fn expected_cases() -> Vec<ExpectedCase> {
    let path = models_folder().join("expected.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases = table["case"].as_array().expect("a list of cases");
    cases.iter().map(case).collect()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_integer().and_then(|n| u64::try_from(n).ok()).unwrap_or_else(|| panic!("{key} in {value}"))
}

fn case(value: &Value) -> ExpectedCase {
    let parameters = value.get("define").and_then(Value::as_table).into_iter().flatten();
    let checks: Vec<&Value> = value.get("check").and_then(Value::as_array).into_iter().flatten().collect();
    let (products, checks): (Vec<&Value>, Vec<&Value>) = checks.into_iter().partition(|c| c.get("property").is_some());
    ExpectedCase {
        model: value["model"].as_str().expect("a model").to_owned(),
        parameters: parameters.map(|(name, v)| (name.clone(), v.to_string().trim_matches('"').to_owned())).collect(),
        states: number(value, "states"),
        transitions: number(value, "transitions"),
        levels: number(value, "levels"),
        deadlocks: number(value, "deadlocks"),
        error: value["error"].as_bool().expect("error is true or false"),
        checks: checks.into_iter().map(check).collect(),
        products: products.into_iter().map(product).collect(),
    }
}

fn product(value: &Value) -> ExpectedProduct {
    ExpectedProduct {
        property: value["property"].as_str().expect("a property process").to_owned(),
        verdict: value["verdict"].as_str().expect("a verdict").to_owned(),
        states: number(value, "states"),
        transitions: number(value, "transitions"),
        accepting: number(value, "accepting"),
    }
}

fn check(value: &Value) -> ExpectedCheck {
    let mut options = Vec::new();
    for (key, value) in value.as_table().expect("a table") {
        match (key.as_str(), value) {
            ("invariant" | "reach", Value::String(expression)) => {
                options.extend([format!("--{key}"), expression.clone()]);
            }
            ("deadlock" | "assertions", Value::Boolean(true)) => options.push(format!("--{key}")),
            ("verdict" | "length", _) => {}
            _ => panic!("unknown key {key} in a check"),
        }
    }
    ExpectedCheck {
        options,
        verdict: value["verdict"].as_str().expect("a verdict").to_owned(),
        length: value.get("length").map(|_| number(value, "length")),
    }
}
