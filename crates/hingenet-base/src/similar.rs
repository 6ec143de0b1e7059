//! "Did you mean": the known name nearest to one that is not known.

/// Similarity (Jaro, between 0 and 1) from which a name is worth proposing.
const ALIKE: f64 = 0.75;

/// The known name most like `name`, small and capital letters alike; `None` if none is much alike.
///
/// ```
/// use hingenet_base::similar::similar;
/// assert_eq!(similar("tan:ml-bnsvm", ["nb:ml", "tan:ml", "tan:ml-bn-svm"]), Some("tan:ml-bn-svm"));
/// assert_eq!(similar("Age", ["sex", "age"]), Some("age"));
/// assert_eq!(similar("weight", ["sex", "age"]), None);
/// ```
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = Letters::of(name);
    let likeness = |known: &'a str| (name.likeness(&Letters::of(known)), known);
    // the first of equals: the order of the known names is somebody's choice
    let better = |best: (f64, &'a str), next: (f64, &'a str)| if next.0 > best.0 { next } else { best };
    let best = known.into_iter().map(likeness).reduce(better)?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// A name in small letters, and what tells without looking at their order that two names are not alike: lists of names
/// are long, and most of them are nothing like the one that is not known.
struct Letters {
    text: String,
    length: usize,
    /// How often each byte stands in it.
    counts: [u32; 256],
}

impl Letters {
    fn of(name: &str) -> Self {
        let text = name.to_lowercase();
        let mut counts = [0; 256];
        text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
        Letters { length: text.chars().count(), text, counts }
    }

    /// The similarity of two names, or 0 where it is less than [`ALIKE`].
    fn likeness(&self, other: &Self) -> f64 {
        if self.most(other) < ALIKE { 0.0 } else { strsim::jaro(&self.text, &other.text) }
    }

    /// At most that alike: (m/a + m/b + 1 - t/m)/3 for m characters that match, t of them in another order; those that
    /// match are no more than the bytes that both have.
    fn most(&self, other: &Self) -> f64 {
        let both =
            self.counts.iter().zip(&other.counts).map(|(a, b)| u64::from(*a.min(b))).sum::<u64>() as f64;
        let (a, b) = (self.length as f64, other.length as f64);
        if a * b == 0.0 { 1.0 } else { (both.min(a) / a + both.min(b) / b + 1.0) / 3.0 }
    }
}

/// The question to add to a message, with a blank before it; empty if no known name is much alike.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, known).map(|found| format!(" (did you mean `{found}`?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ALIKE, Letters};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_never_more_alike_than_their_letters_allow(a in "[abABé ]{0,9}", b in "[abcé]{0,9}") {
            let (one, other) = (Letters::of(&a), Letters::of(&b));
            let jaro = strsim::jaro(&a.to_lowercase(), &b.to_lowercase());
            prop_assert!(jaro <= one.most(&other) + 1e-12, "{a} {b}: {jaro}");
            prop_assert_eq!(one.likeness(&other), if one.most(&other) < ALIKE { 0.0 } else { jaro });
        }
    }
}
