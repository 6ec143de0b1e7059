//! What an option is: name, kind, default and sentence, declared once by [`options!`]. From a declaration come the
//! parser of `key=value` with its checks, the typed value a fit reads ([`Opt::of`]), the setter of the builders, the
//! lists of `hingenet models`, the tables of the guide, and what Python holds its parameters to.

use super::ModelSpec;
use hingenet_base::error::{Error, Result};
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// One option of a model.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// Name in `key=value`.
    pub key: &'static str,
    /// Values allowed.
    pub kind: OptionKind,
    /// Value when it is not given.
    pub default: OptionDefault,
    /// What it does, in a sentence.
    pub about: &'static str,
}

/// Which values an option takes.
#[derive(Debug, Clone, Copy)]
pub enum OptionKind {
    /// A finite number between two bounds.
    Number(Bound<f64>, Bound<f64>),
    /// A whole number, from the first to the second.
    Whole(usize, usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Other text.
    Text {
        /// What it may be, in words.
        what: &'static str,
        /// Refuses what is no such text, as far as that can be seen without the data; says what was expected.
        check: fn(&str) -> Result<(), String>,
    },
}

/// The value of an option that is not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionDefault {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(usize),
    /// A word.
    Word(&'static str),
    /// No single value: what happens instead, in words.
    Open(&'static str),
}

/// What stands for the default of options that the fit chooses itself.
pub(super) const CHOSEN: &str = "chosen by inner cross-validation";

/// A value that has passed the checks of its option.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OptionValue {
    /// A finite number in its range.
    Number(f64),
    /// A whole number in its range.
    Whole(usize),
    /// One of the words.
    Word(&'static str),
    /// Text.
    Text(String),
}

/// A declared option whose value is a `V`: a default is part of `V`'s reader, an open option gives an `Option`.
pub(super) struct Opt<V> {
    pub info: OptionInfo,
    pub read: fn(Option<&OptionValue>) -> V,
}

impl<V> Opt<V> {
    /// The value of a spec; the default if it was not given.
    pub fn of(&self, spec: &ModelSpec) -> V {
        (self.read)(spec.value(self.info.key))
    }

    /// Whether a spec gives it.
    pub fn is_given(&self, spec: &ModelSpec) -> bool {
        spec.value(self.info.key).is_some()
    }
}

/// The error of a value that an option of a model cannot have.
pub(super) fn bad_value(key: &str, model: &str, value: &str, expected: &str) -> Error {
    Error::Parameter {
        name: format!("option `{key}` of model `{model}`"),
        value: value.into(),
        expected: expected.into(),
    }
}

impl OptionKind {
    /// The value of a text, or what was expected.
    pub(super) fn parse(&self, text: &str) -> Result<OptionValue, String> {
        let value = match self {
            OptionKind::Number(low, high) => {
                let number: Option<f64> = text.parse().ok();
                // A comparison with NaN is false, so NaN is in no range.
                let inside = |x: &f64| x.is_finite() && (*low, *high).contains(x);
                number.filter(inside).map(OptionValue::Number)
            }
            OptionKind::Whole(low, high) => {
                let number: Option<usize> = text.parse().ok();
                number.filter(|n| (*low..=*high).contains(n)).map(OptionValue::Whole)
            }
            OptionKind::Word(words) => words.iter().find(|w| **w == text).map(|w| OptionValue::Word(w)),
            OptionKind::Text { check, .. } => {
                check(text)?;
                Some(OptionValue::Text(text.into()))
            }
        };
        value.ok_or_else(|| self.expected())
    }

    fn expected(&self) -> String {
        match self {
            OptionKind::Number(..) => format!("a number, {self}"),
            OptionKind::Word(_) => format!("one of {self}"),
            OptionKind::Whole(..) | OptionKind::Text { .. } => self.to_string(),
        }
    }
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Bound::{Excluded, Included, Unbounded};
        match self {
            OptionKind::Number(Included(low), Included(high)) => {
                write!(f, "{} to {}", short(*low), short(*high))
            }
            OptionKind::Number(Excluded(low), Excluded(high)) => {
                write!(f, "between {} and {}", short(*low), short(*high))
            }
            OptionKind::Number(low, high) => {
                match low {
                    Included(low) => write!(f, "{low} or more")?,
                    Excluded(low) => write!(f, "above {low}")?,
                    Unbounded => write!(f, "finite")?,
                }
                match high {
                    Included(high) => write!(f, ", at most {}", short(*high)),
                    Excluded(high) => write!(f, ", below {high}"),
                    Unbounded => Ok(()),
                }
            }
            OptionKind::Whole(low, usize::MAX) => write!(f, "a whole number from {low}"),
            OptionKind::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            OptionKind::Word(words) => f.write_str(&words.join(", ")),
            OptionKind::Text { what, .. } => f.write_str(what),
        }
    }
}

/// A bound without its zeros.
fn short(bound: f64) -> String {
    let is_plain = bound == 0.0 || (1e-3..1e6).contains(&bound);
    if is_plain { bound.to_string() } else { format!("{bound:e}") }
}

impl fmt::Display for OptionDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionDefault::Number(x) => write!(f, "{x}"),
            OptionDefault::Whole(n) => write!(f, "{n}"),
            OptionDefault::Word(text) | OptionDefault::Open(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // As short as it can be read back: 4, 0.1, 1e-12.
            OptionValue::Number(x) => f.write_str(format!("{x:?}").trim_end_matches(".0")),
            OptionValue::Whole(n) => write!(f, "{n}"),
            OptionValue::Word(word) => f.write_str(word),
            OptionValue::Text(text) => f.write_str(text),
        }
    }
}

/// Declares options: `NAME key: kind(range) = default, "sentence";`, or `... or "what happens instead", "sentence";`
/// for those without a fixed default. Kinds are `number`, `whole`, `flag`, `words` and `text`. Makes a constant
/// [`Opt`] of each and the macro `$setters`, which writes one setter of a builder for each.
macro_rules! options {
    ($setters:ident: $($name:ident $key:ident: $kind:ident($($range:tt)*) $how:tt $default:tt, $about:literal;)*) => {
        $(pub(super) const $name: Opt<option!(@type $kind($($range)*) $how)> = Opt {
            info: OptionInfo {
                key: stringify!($key),
                kind: option!(@kind $kind($($range)*)),
                default: option!(@default $kind($($range)*) $how $default),
                about: $about,
            },
            read: option!(@read $kind($($range)*) $how $default),
        };)*
        macro_rules! $setters {
            () => {
                $(
                    #[doc = concat!($about, option!(@doc $kind($($range)*)), ".")]
                    pub fn $key(self, value: option!(@setter $kind)) -> Self {
                        self.set(stringify!($key), value)
                    }
                )*
            };
        }
        pub(super) use $setters;
    };
}
pub(super) use options;

/// The pieces of a declaration for [`options!`].
macro_rules! option {
    (@type number($($r:tt)*) =) => { f64 };
    (@type number($($r:tt)*) or) => { Option<f64> };
    (@type whole($($r:tt)*) =) => { usize };
    (@type whole($($r:tt)*) or) => { Option<usize> };
    (@type flag() =) => { bool };
    (@type words($t:ty; $($r:tt)*) =) => { $t };
    (@type words($t:ty; $($r:tt)*) or) => { Option<$t> };
    (@type text($($r:tt)*) or) => { Option<String> };

    (@kind number($low:literal ..= $high:literal)) => {
        OptionKind::Number(Bound::Included($low), Bound::Included($high))
    };
    (@kind number($low:literal < .. <= $high:literal)) => {
        OptionKind::Number(Bound::Excluded($low), Bound::Included($high))
    };
    (@kind number($low:literal < .. < $high:literal)) => {
        OptionKind::Number(Bound::Excluded($low), Bound::Excluded($high))
    };
    (@kind whole(>= $low:literal)) => { OptionKind::Whole($low, usize::MAX) };
    (@kind whole($low:literal ..= $high:literal)) => { OptionKind::Whole($low, $high) };
    (@kind flag()) => { OptionKind::Word(&["false", "true"]) };
    (@kind words($t:ty; $($word:literal => $value:expr),*)) => { OptionKind::Word(&[$($word),*]) };
    (@kind text($what:literal, $check:expr)) => { OptionKind::Text { what: $what, check: $check } };

    (@default $kind:ident($($r:tt)*) or $text:tt) => { OptionDefault::Open($text) };
    (@default number($($r:tt)*) = $value:literal) => { OptionDefault::Number($value) };
    (@default whole($($r:tt)*) = $value:literal) => { OptionDefault::Whole($value) };
    (@default flag() = $value:literal) => { OptionDefault::Word(stringify!($value)) };
    (@default words($($r:tt)*) = $value:literal) => { OptionDefault::Word($value) };

    (@read number($($r:tt)*) = $default:literal) => {
        |value| if let Some(OptionValue::Number(x)) = value { *x } else { $default }
    };
    (@read number($($r:tt)*) or $text:tt) => {
        |value| if let Some(OptionValue::Number(x)) = value { Some(*x) } else { None }
    };
    (@read whole($($r:tt)*) = $default:literal) => {
        |value| if let Some(OptionValue::Whole(n)) = value { *n } else { $default }
    };
    (@read whole($($r:tt)*) or $text:tt) => {
        |value| if let Some(OptionValue::Whole(n)) = value { Some(*n) } else { None }
    };
    (@read flag() = $default:literal) => {
        |value| if let Some(OptionValue::Word(word)) = value { *word == "true" } else { $default }
    };
    (@read words($t:ty; $first:literal => $value:expr $(, $word:literal => $other:expr)*) = $default:literal) => {
        |value| match value {
            $(Some(OptionValue::Word($word)) => $other,)*
            _ => $value,
        }
    };
    (@read words($t:ty; $($word:literal => $value:expr),*) or $text:tt) => {
        |value| match value {
            $(Some(OptionValue::Word($word)) => Some($value),)*
            _ => None,
        }
    };
    (@read text($($r:tt)*) or $default:tt) => {
        |value| if let Some(OptionValue::Text(text)) = value { Some(text.clone()) } else { None }
    };

    (@setter number) => { f64 };
    (@setter whole) => { usize };
    (@setter flag) => { bool };
    (@setter words) => { &str };
    (@setter text) => { &str };

    (@doc words($t:ty; $first:literal => $f:expr $(, $word:literal => $value:expr)*)) => {
        concat!(": `", $first, "`" $(, ", `", $word, "`")*)
    };
    (@doc text($what:literal, $check:expr)) => { concat!(": ", $what) };
    (@doc $kind:ident($($r:tt)*)) => { "" };
}
pub(super) use option;
