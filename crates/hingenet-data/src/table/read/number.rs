//! Numbers in text, fast: the common short decimals are exact in one division, all others go to the
//! standard parser, so both give the nearest number.

/// What a text says as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// A finite number.
    Finite(f64),
    /// Infinity in words, or a number too large to hold.
    Infinite,
    /// No number (`nan` included).
    No,
}

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// Reads a cell with decimal points; spaces around the number are ignored.
#[inline]
pub(super) fn parse(cell: &[u8]) -> Number {
    match short_decimal(cell) {
        Some(x) => Number::Finite(x),
        None => parse_slowly(cell),
    }
}

/// `[-]digits[.digits]` of at most 18 digits and a value of digits up to 2^53: integer and power of ten
/// are exact, so one division rounds once.
#[inline]
fn short_decimal(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let (mut mantissa, mut point) = (0u64, None);
    for (k, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() && digits.len() > 1 {
            point = Some(k);
        } else {
            return None;
        }
    }
    let decimals = point.map_or(0, |k| digits.len() - 1 - k);
    // 19 digits stay below 2^64, so the product above did not wrap
    if mantissa > 1 << 53 || decimals >= POWERS.len() {
        return None;
    }
    let x = mantissa as f64 / POWERS[decimals];
    Some(if negative { -x } else { x })
}

#[cold]
fn parse_slowly(cell: &[u8]) -> Number {
    match std::str::from_utf8(cell.trim_ascii()).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(x) if x.is_finite() => Number::Finite(x),
        Some(x) if x.is_infinite() => Number::Infinite,
        _ => Number::No,
    }
}

/// Reads a cell with decimal commas, in which a point is no part of a number.
#[cold]
pub(super) fn parse_comma(cell: &[u8]) -> Number {
    if cell.contains(&b'.') {
        return Number::No;
    }
    let pointed: Vec<u8> = cell.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    parse(&pointed)
}

/// Whether the comma of a text that [`parse_comma`] reads may part thousands as well: `1,234`.
pub(super) fn is_thousands(cell: &[u8]) -> bool {
    let digits = cell.trim_ascii();
    let digits = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
    let Some(comma) = digits.iter().position(|b| *b == b',') else { return false };
    let (whole, rest) = (&digits[..comma], &digits[comma + 1..]);
    (1..=3).contains(&whole.len())
        && whole[0] != b'0'
        && rest.len() == 3
        && rest.iter().all(u8::is_ascii_digit)
}

/// From here on a number may be an integer that was rounded.
pub(super) const LARGE: f64 = 9_007_199_254_740_992.0;

/// Whether a text that stands for the finite number `x` is an integer above 2^53.
pub(super) fn is_large_integer(cell: &[u8], x: f64) -> bool {
    let digits = cell.trim_ascii();
    let digits = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
    x.abs() >= LARGE
        && digits.iter().all(u8::is_ascii_digit)
        && std::str::from_utf8(digits).is_ok_and(|text| text.parse::<u128>().map_or(true, |v| v > 1 << 53))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The short way and the standard parser agree to the bit.
        #[test]
        fn short_decimals_are_exact(text in "[+-]?[0-9]{0,20}[.]?[0-9]{0,20}") {
            let standard = text.parse::<f64>().ok().map(f64::to_bits);
            let ours = match parse(text.as_bytes()) { Number::Finite(x) => Some(x.to_bits()), _ => None };
            prop_assert_eq!(ours, standard);
        }
    }

    #[test]
    fn commas_part_decimals_and_perhaps_thousands() {
        assert_eq!(parse_comma(b"51,3"), Number::Finite(51.3));
        assert_eq!(parse_comma(b" -1,5e3"), Number::Finite(-1500.0));
        assert_eq!(parse_comma(b"7"), Number::Finite(7.0));
        for text in ["5.5", "1.234,5", "1,2,3", ",", "a,b"] {
            assert_eq!(parse_comma(text.as_bytes()), Number::No, "{text}");
        }
        for text in ["1,234", "-12,345", "999,000"] {
            assert!(is_thousands(text.as_bytes()), "{text}");
        }
        for text in ["0,125", "51,3", "1234,567", "1,2345", "1234", "1,23e"] {
            assert!(!is_thousands(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_and_overflow_are_told_apart_from_text() {
        assert_eq!(parse(b"inf"), Number::Infinite);
        assert_eq!(parse(b"-1e999"), Number::Infinite);
        assert_eq!(parse(b"nan"), Number::No);
        assert_eq!(parse(b"."), Number::No);
        assert_eq!(parse(b""), Number::No);
        assert_eq!(parse(b" 1e3 "), Number::Finite(1000.0));
        assert!(is_large_integer(b"-9007199254740993", -LARGE));
        assert!(!is_large_integer(b"9007199254740992", LARGE));
        assert!(!is_large_integer(b"1e30", 1e30));
    }
}
