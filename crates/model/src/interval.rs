//! Closed intervals of integers.

/// All values from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The smallest value.
    pub low: i32,
    /// The largest value.
    pub high: i32,
}

impl Interval {
    /// Everything that an expression can evaluate to.
    pub const ALL: Interval = Interval { low: i32::MIN, high: i32::MAX };
    /// The values of comparisons and logical operators.
    pub const BOOLEAN: Interval = Interval { low: 0, high: 1 };

    /// The values from `low` to `high`, which must not be smaller.
    pub fn new(low: i32, high: i32) -> Self {
        debug_assert!(low <= high);
        Self { low, high }
    }

    /// A single value.
    pub fn point(value: i32) -> Self {
        Self { low: value, high: value }
    }

    /// The single value, if there is only one.
    pub fn as_point(self) -> Option<i32> {
        (self.low == self.high).then_some(self.low)
    }

    /// The 32-bit interval for bounds that may have left 32 bits: arithmetic wraps, so then anything is possible.
    pub fn from_wide(low: i64, high: i64) -> Self {
        match (i32::try_from(low), i32::try_from(high)) {
            (Ok(low), Ok(high)) => Self { low, high },
            _ => Self::ALL,
        }
    }

    /// Whether `value` is one of the values.
    pub fn contains(self, value: i32) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether all of `other` is in here.
    pub fn includes(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest interval with both.
    pub fn join(self, other: Interval) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both, if anything.
    pub fn meet(self, other: Interval) -> Option<Self> {
        let low = self.low.max(other.low);
        let high = self.high.min(other.high);
        (low <= high).then_some(Self { low, high })
    }

    /// How many bits number the values from `low` on.
    pub fn bits(self) -> u32 {
        let span = (i64::from(self.high) - i64::from(self.low)) as u64;
        64 - span.leading_zeros()
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_point() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}..{}", self.low, self.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_number_all_values() {
        for (low, high, bits) in
            [(3, 3, 0), (0, 1, 1), (0, 2, 2), (0, 3, 2), (-1, 0, 1), (0, 255, 8), (-32768, 32767, 16)]
        {
            assert_eq!(Interval::new(low, high).bits(), bits, "{low}..{high}");
        }
        assert_eq!(Interval::ALL.bits(), 32);
    }

    #[test]
    fn meet_and_join() {
        let (a, b) = (Interval::new(0, 5), Interval::new(4, 9));
        assert_eq!(a.meet(b), Some(Interval::new(4, 5)));
        assert_eq!(a.join(b), Interval::new(0, 9));
        assert_eq!(a.meet(Interval::new(6, 7)), None);
        assert_eq!(Interval::from_wide(0, 1 << 40), Interval::ALL);
    }
}
