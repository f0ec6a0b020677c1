//! The arithmetic of `eval`: C-like expressions over 32-bit integers.

use crate::error::shown;

/// The deepest nesting of parentheses; each costs machine stack.
const DEEPEST: u32 = 200;
/// The widest result, so that a slip in the width does not fill the memory.
const WIDEST: u32 = 1_000_000;

/// A value, or why there is none: a division by zero is no error where `||` or `&&` skip it.
type Value = Result<i32, &'static str>;

/// The value of an expression; the empty one is 0, as in m4.
pub(crate) fn evaluate(text: &[u8]) -> Result<i32, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.binary(1).and_then(|value| {
        parser.skip_space();
        match parser.text.get(parser.at) {
            None => value,
            Some(_) => Err("there is more after the expression"),
        }
    });
    value.map_err(|message| format!("eval: {message}: {}", shown(text)))
}

/// A number in digits of `radix`, with at least `width` of them.
pub(crate) fn in_radix(value: i32, radix: i32, width: i32) -> Result<Vec<u8>, String> {
    let radix = u32::try_from(radix).ok().filter(|r| (1..=36).contains(r));
    let Some(radix) = radix else {
        return Err("eval: the radix is not between 1 and 36".to_string());
    };
    let Ok(width) = u32::try_from(width) else {
        return Err("eval: the width is negative".to_string());
    };
    let mut rest = value.unsigned_abs();
    if width > WIDEST || (radix == 1 && rest > WIDEST) {
        return Err("eval: the result is too wide".to_string());
    }
    let mut digits = Vec::new();
    if radix == 1 {
        digits.resize(rest as usize, b'1');
    } else {
        while rest > 0 || digits.is_empty() {
            let digit = char::from_digit(rest % radix, radix).unwrap_or('0');
            digits.push(digit as u8);
            rest /= radix;
        }
    }
    if digits.len() < width as usize {
        digits.resize(width as usize, b'0');
    }
    if value < 0 {
        digits.push(b'-');
    }
    digits.reverse();
    Ok(digits)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

/// The binary operators with their precedence; longer ones first where one starts another.
const OPERATORS: &[(&[u8], u32)] = &[
    (b"||", 1),
    (b"&&", 2),
    (b"==", 6),
    (b"!=", 6),
    (b"<<", 8),
    (b">>", 8),
    (b"<=", 7),
    (b">=", 7),
    (b"**", 11),
    (b"|", 3),
    (b"^", 4),
    (b"&", 5),
    (b"=", 6),
    (b"<", 7),
    (b">", 7),
    (b"+", 9),
    (b"-", 9),
    (b"*", 10),
    (b"/", 10),
    (b"%", 10),
];
const POWER: u32 = 11;

impl Parser<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn operator(&mut self) -> Option<(&'static [u8], u32)> {
        self.skip_space();
        let found = OPERATORS.iter().find(|row| self.rest().starts_with(row.0));
        found.copied()
    }

    /// An expression of operators that bind at least as tightly as `lowest`.
    fn binary(&mut self, lowest: u32) -> Result<Value, &'static str> {
        let mut left = self.unary()?;
        while let Some((operator, precedence)) = self.operator() {
            if precedence < lowest {
                break;
            }
            self.at += operator.len();
            self.refuse_assignment(operator)?;
            // Only powers group to the right.
            let right = self.deeper(|parser| parser.binary(precedence + u32::from(precedence != POWER)))?;
            left = apply(operator, left, right);
        }
        Ok(left)
    }

    /// C's `+=`, `++` and the like are no operators here, and not two operators either.
    fn refuse_assignment(&self, operator: &[u8]) -> Result<(), &'static str> {
        let next = self.rest().first();
        let doubled = matches!(operator, b"+" | b"-") && next == operator.first();
        let comparison = matches!(operator, b"==" | b"!=" | b"<=" | b">=" | b"=");
        if doubled || (next == Some(&b'=') && !comparison) {
            return Err("invalid operator");
        }
        Ok(())
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Result<Value, &'static str>) -> Result<Value, &'static str> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the expression is nested too deeply");
        }
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn unary(&mut self) -> Result<Value, &'static str> {
        let mut signs = Vec::new();
        loop {
            self.skip_space();
            match self.rest().first() {
                Some(&sign @ (b'+' | b'-' | b'~' | b'!')) => {
                    self.at += 1;
                    if sign != b'~' {
                        self.refuse_assignment(&[sign])?;
                    }
                    signs.push(sign);
                }
                _ => break,
            }
        }
        let value = self.primary()?;
        let apply_sign = |value: i32, sign: &u8| match sign {
            b'-' => value.wrapping_neg(),
            b'~' => !value,
            b'!' => i32::from(value == 0),
            _ => value,
        };
        Ok(value.map(|value| signs.iter().rev().fold(value, apply_sign)))
    }

    fn primary(&mut self) -> Result<Value, &'static str> {
        match self.rest().first() {
            Some(b'(') => {
                self.at += 1;
                let value = self.deeper(|parser| parser.binary(1))?;
                self.skip_space();
                if self.rest().first() != Some(&b')') {
                    return Err("missing right parenthesis");
                }
                self.at += 1;
                Ok(value)
            }
            Some(digit) if digit.is_ascii_digit() => Ok(Ok(self.number()?)),
            _ => Err("bad expression"),
        }
    }

    fn number(&mut self) -> Result<i32, &'static str> {
        let base = self.base()?;
        let mut value = 0u32;
        while let Some(digit) = self.rest().first().and_then(|&byte| char::from(byte).to_digit(36)) {
            if base == 1 {
                match digit {
                    1 => value = value.wrapping_add(1),
                    0 if value == 0 => {}
                    _ => break,
                }
            } else if digit >= base {
                break;
            } else {
                value = value.wrapping_mul(base).wrapping_add(digit);
            }
            self.at += 1;
        }
        Ok(value as i32)
    }

    /// The base a number starts with: `0x`, `0b`, `0r9:`, `0` or nothing.
    fn base(&mut self) -> Result<u32, &'static str> {
        if self.rest().first() != Some(&b'0') {
            return Ok(10);
        }
        self.at += 1;
        let base = match self.rest().first() {
            Some(b'x' | b'X') => 16,
            Some(b'b' | b'B') => 2,
            Some(b'r' | b'R') => 0,
            _ => return Ok(8),
        };
        self.at += 1;
        if base != 0 {
            return Ok(base);
        }
        let mut radix = 0u32;
        while let Some(digit) = self.rest().first().filter(|byte| byte.is_ascii_digit()) {
            radix = radix.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if self.rest().first() != Some(&b':') || !(1..=36).contains(&radix) {
            return Err("bad radix of a number");
        }
        self.at += 1;
        Ok(radix)
    }
}

fn apply(operator: &[u8], left: Value, right: Value) -> Value {
    match (operator, left) {
        (b"&&", Ok(0)) => return Ok(0),
        (b"||", Ok(left)) if left != 0 => return Ok(1),
        _ => {}
    }
    let (left, right) = (left?, right?);
    Ok(match operator {
        b"||" | b"&&" => i32::from(right != 0),
        b"|" => left | right,
        b"^" => left ^ right,
        b"&" => left & right,
        b"==" | b"=" => i32::from(left == right),
        b"!=" => i32::from(left != right),
        b"<" => i32::from(left < right),
        b"<=" => i32::from(left <= right),
        b">" => i32::from(left > right),
        b">=" => i32::from(left >= right),
        b"<<" => left.wrapping_shl(right as u32),
        b">>" => left.wrapping_shr(right as u32),
        b"+" => left.wrapping_add(right),
        b"-" => left.wrapping_sub(right),
        b"*" => left.wrapping_mul(right),
        b"/" | b"%" if right == 0 => return Err("division by zero"),
        b"/" => left.wrapping_div(right),
        b"%" => left.wrapping_rem(right),
        _ => return power(left, right),
    })
}

fn power(base: i32, exponent: i32) -> Value {
    let Ok(exponent) = u32::try_from(exponent) else {
        return Err("negative exponent");
    };
    if base == 0 && exponent == 0 {
        return Err("division by zero");
    }
    Ok(base.wrapping_pow(exponent))
}
