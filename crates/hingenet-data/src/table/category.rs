//! The order of categories and what counts as a number: the same rules in every reader and encoder.

/// The finite number a cell stands for: decimal notation with optional sign, point and exponent, spaces
/// around it ignored. Words (`inf`, `nan`) and numbers that overflow are no finite numbers.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim_ascii().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Puts categories into their stated order: by value if every one is a finite number (equal numbers by
/// their text), else by the bytes of the text. A file that declares an order (ARFF) keeps its own. So the
/// order never depends on the order of the rows.
pub fn category_order(categories: &mut [String]) {
    let numbers: Option<Vec<f64>> = categories.iter().map(|text| parse_number(text)).collect();
    let Some(numbers) = numbers else { return categories.sort_unstable() };
    let texts = categories.iter_mut().map(std::mem::take);
    let mut keyed: Vec<(f64, String)> = numbers.into_iter().zip(texts).collect();
    // + 0.0 makes −0 and 0 equal
    keyed.sort_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)).then_with(|| a.1.cmp(&b.1)));
    categories.iter_mut().zip(keyed).for_each(|(to, (_, text))| *to = text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(list: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = list.iter().map(|s| s.to_string()).collect();
        category_order(&mut names);
        names
    }

    #[test]
    fn numbers_are_ordered_by_value_and_texts_by_bytes() {
        assert_eq!(ordered(&["10", "9", "-1", "1.0", "1"]), ["-1", "1", "1.0", "9", "10"]);
        assert_eq!(ordered(&["10", "9", "x"]), ["10", "9", "x"]);
        assert_eq!(ordered(&["b", "B", "a"]), ["B", "a", "b"]);
    }

    #[test]
    fn words_and_overflow_are_no_numbers() {
        for text in ["inf", "-Infinity", "nan", "1e999", "", "0x10", "1_000", "1,5"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
        assert_eq!(parse_number(" +1.5e3 "), Some(1500.0));
    }
}
