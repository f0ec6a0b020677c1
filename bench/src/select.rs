//! Which models `--only` selects.

/// The items whose name is in `only`, or all if that is empty. A name is a model's, `at.4`, or a family's, `at`.
///
/// # Errors
/// If a name selects nothing.
pub fn only<T>(items: Vec<T>, only: &[String], name: impl Fn(&T) -> &str) -> Result<Vec<T>, String> {
    let selects = |wanted: &str, model: &str| {
        model == wanted || model.split_once('.').is_some_and(|(family, _)| family == wanted)
    };
    if let Some(nothing) = only.iter().find(|wanted| !items.iter().any(|item| selects(wanted, name(item)))) {
        let names: Vec<&str> = items.iter().map(&name).collect();
        return Err(format!("--only {nothing} selects nothing; there are: {}", names.join(", ")));
    }
    let wanted = |item: &T| only.is_empty() || only.iter().any(|wanted| selects(wanted, name(item)));
    Ok(items.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn models_and_families_are_selected() {
        let select = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
            super::only(vec!["at.1", "at.2", "bakery.1"], &names, |model| model)
        };
        assert_eq!(select(&[]).unwrap(), ["at.1", "at.2", "bakery.1"]);
        assert_eq!(select(&["at.2"]).unwrap(), ["at.2"]);
        assert_eq!(select(&["at", "bakery.1"]).unwrap(), ["at.1", "at.2", "bakery.1"]);
        assert!(select(&["at.2", "a"]).is_err());
    }
}
