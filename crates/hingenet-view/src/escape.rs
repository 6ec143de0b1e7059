//! Names come from data and may hold anything; in markup they must stay text.

/// Text that is safe inside SVG and HTML elements and attributes. Control characters, and the two that XML cannot hold, become spaces.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || ['\u{fffe}', '\u{ffff}'].contains(&c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(escape("<img onerror=\"x\">&'"), "&lt;img onerror=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(escape("a\u{0}b\nc\u{ffff}d"), "a b c d");
    }
}
