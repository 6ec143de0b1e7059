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
    let name = name.to_lowercase();
    let likeness = |known: &'a str| (strsim::jaro(&name, &known.to_lowercase()), known);
    // the first of equals: the order of the known names is somebody's choice
    let better = |best: (f64, &'a str), next: (f64, &'a str)| if next.0 > best.0 { next } else { best };
    let best = known.into_iter().map(likeness).reduce(better)?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// The question to add to a message, with a blank before it; empty if no known name is much alike.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, known).map(|found| format!(" (did you mean `{found}`?)")).unwrap_or_default()
}
