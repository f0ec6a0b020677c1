//! "Did you mean": the known name closest to a misspelt one.

/// The candidate nearest to `name`, if one is near enough to be a likely misspelling.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|c| *c != name && c.len().abs_diff(name.len()) <= allowed)
        .map(|c| (if c.to_lowercase() == lower { 0 } else { distance(name, c) }, c))
        .filter(|(d, c)| *d <= allowed && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edit distance with insertions, deletions, replacements and swaps of neighbours, each costing 1.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["counter", "turn", "NCS", "flag"];
        assert_eq!(closest("conter", names), Some("counter"));
        assert_eq!(closest("trun", names), Some("turn"));
        assert_eq!(closest("ncs", names), Some("NCS"));
        assert_eq!(closest("semaphore", names), None);
        assert_eq!(closest("x", ["y"]), None);
    }
}
