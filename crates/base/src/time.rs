//! Times as people write them: `90s`, `10m`, `2h`, `1h30m`, `250ms`.

use std::time::Duration;

/// The duration in `text`; a bare number means seconds.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time; write for example 90s, 10m, 2h or 1h30m");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let split = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(split);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        seconds += number
            * match unit.trim() {
                "ms" => 0.001,
                "" | "s" | "sec" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return Err(wrong()),
            };
        rest = tail;
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// `seconds` for people: `0.42 s`, `12.3 s`, `4 min 05 s`, `2 h 03 min`.
pub fn format_seconds(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else if seconds < 3600.0 {
        format!("{} min {:02} s", (seconds / 60.0) as u64, (seconds % 60.0) as u64)
    } else {
        format!("{} h {:02} min", (seconds / 3600.0) as u64, (seconds % 3600.0 / 60.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse() {
        for (text, millis) in
            [("90s", 90_000), ("10m", 600_000), ("2h", 7_200_000), ("1h30m", 5_400_000), ("250ms", 250), ("5", 5000)]
        {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "3 fortnights", "-1s", "1e400"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_print() {
        assert_eq!(format_seconds(0.421), "0.42 s");
        assert_eq!(format_seconds(245.0), "4 min 05 s");
        assert_eq!(format_seconds(7380.0), "2 h 03 min");
    }
}
