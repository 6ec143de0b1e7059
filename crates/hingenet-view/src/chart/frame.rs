//! The frame all charts share: size, margins, axes, grid, and text that fits.

use super::Axis;
use crate::escape;
use std::fmt::Write;

/// Width of every chart in its own units; pages scale it to the column.
pub const WIDTH: f64 = 400.0;

/// Where the data area lies.
#[derive(Debug, Clone, Copy)]
pub struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Area {
    pub fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.place(value) * (self.right - self.left)
    }

    pub fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.place(value) * (self.bottom - self.top)
    }
}

/// Opens an SVG picture; what it shows is told to screen readers by the figure around it.
pub fn open(height: f64, label: &str) -> String {
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n",
        escape(label)
    )
}

/// Writing to a string cannot fail; the result is dropped on purpose.
pub fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Vertical lines and labels of a horizontal axis.
pub fn x_axis(out: &mut String, area: Area, axis: &Axis) {
    for (value, label) in &axis.ticks {
        let x = area.x(axis, *value);
        put(out, format_args!("<path class=\"grid\" d=\"M{x:.1} {:.1}V{:.1}\"/>", area.top, area.bottom));
        // the label at the left end must not reach that of the other axis
        let middle = x.max(area.left - 5.0 + text_width(label) / 2.0);
        text(out, "tick", (middle, area.bottom + 16.0), "middle", label);
    }
    put(
        out,
        format_args!("<path class=\"axis\" d=\"M{:.1} {:.1}H{:.1}\"/>\n", area.left, area.bottom, area.right),
    );
    // below the middle of the axis, as far as the picture is wide enough
    let half = text_width(&axis.label) / 2.0;
    let middle = ((area.left + area.right) / 2.0).min(WIDTH - half).max(half.min(WIDTH / 2.0));
    text(out, "label", (middle, area.bottom + 34.0), "middle", &axis.label);
}

/// A vertical line at a value of a horizontal axis.
pub fn x_rule(out: &mut String, area: Area, axis: &Axis, value: f64) {
    let x = area.x(axis, value);
    put(out, format_args!("<path class=\"rule\" d=\"M{x:.1} {:.1}V{:.1}\"/>\n", area.top, area.bottom));
}

/// A horizontal line at a value of a vertical axis.
pub fn y_rule(out: &mut String, area: Area, axis: &Axis, value: f64) {
    let y = area.y(axis, value);
    put(out, format_args!("<path class=\"rule\" d=\"M{:.1} {y:.1}H{:.1}\"/>\n", area.left, area.right));
}

fn text(out: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    put(
        out,
        format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n",
            escape(text)
        ),
    );
}

/// Horizontal lines and labels of a vertical axis.
pub fn y_axis(out: &mut String, area: Area, axis: &Axis) {
    for (value, label) in &axis.ticks {
        let y = area.y(axis, *value);
        put(out, format_args!("<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/>", area.left, area.right));
        text(out, "tick", (area.left - 6.0, y + 4.0), "end", label);
    }
    let middle = (area.top + area.bottom) / 2.0;
    put(
        out,
        format_args!(
            "<text class=\"label\" transform=\"translate(13 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            escape(&axis.label)
        ),
    );
}

/// The text if it has at most `most` characters, else its beginning, an ellipsis and its end: names of
/// models differ at their ends.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_string()
    } else {
        let tail = most.saturating_sub(1) / 2;
        let head = most.saturating_sub(1) - tail;
        let n = text.chars().count();
        text.chars().take(head).chain(['…']).chain(text.chars().skip(n - tail)).collect()
    }
}

/// A label at the left of a row, ending at `x`; shortened, with the whole text on demand.
pub fn row_label(out: &mut String, x: f64, y: f64, text: &str, most: usize) {
    put(
        out,
        format_args!(
            "<text class=\"row\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\"><title>{}</title>{}</text>\n",
            y + 4.5,
            escape(text),
            escape(&shorten(text, most))
        ),
    );
}

/// Width that row labels need, within limits, and the number of characters that fit.
pub fn label_room<'a>(labels: impl Iterator<Item = &'a str>) -> (f64, usize) {
    let mut widest = 28.0f64;
    let mut longest = 4;
    for label in labels {
        let shown = shorten(label, MOST_LETTERS);
        widest = widest.max(text_width(&shown));
        longest = longest.max(shown.chars().count());
    }
    (widest + 14.0, longest)
}

/// Letters of a row label.
const MOST_LETTERS: usize = 21;

/// About the width of a text of 13 units height; rather too wide than too narrow.
pub fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 4.6,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 5.6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 12.8,
        c if c.is_ascii_lowercase() || c.is_ascii_digit() => 8.3,
        c if c.is_ascii() => 9.8,
        c if c.is_alphabetic() && (c as u32) < 0x2000 => 9.8,
        _ => 13.5,
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shorten("tan:ml-bn-svm,lambda=16", 11), "tan:m…da=16");
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöüß", 3), "ä…ß");
        assert_eq!(shorten("long", 1), "…");
    }
}
