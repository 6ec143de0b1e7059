//! Tables of a page. A number is shown rounded and carries its full value, so that sorting and tests see
//! what the JSON says.

use serde::Serialize;

/// A table with a row header in its first column.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DataTable {
    /// What the table holds.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// The full value of a number.
    pub value: Option<String>,
    /// Stands where numbers stand.
    pub is_number: bool,
    /// A small picture after the text.
    pub svg: String,
}

/// A number with this many digits behind the first; the largest ones stay as they are, they would be rounded up to infinity.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.digits$e}").parse().ok().filter(|r: &f64| r.is_finite()).unwrap_or(value)
}

impl DataTable {
    /// An empty table.
    pub fn new(caption: impl Into<String>, header: &[&str]) -> Self {
        let header = header.iter().map(ToString::to_string).collect();
        DataTable { caption: caption.into(), header, rows: Vec::new() }
    }
}

impl Cell {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), value: None, is_number: false, svg: String::new() }
    }

    /// A number and how it is shown.
    pub fn shown(text: String, value: f64) -> Self {
        Cell { value: Some(value.to_string()), is_number: true, ..Cell::text(text) }
    }

    /// A number with this many decimals.
    pub fn number(value: f64, decimals: usize) -> Self {
        Cell::shown(format!("{value:.decimals$}"), value)
    }

    /// The same with a mark behind it.
    pub fn marked(self, mark: &str) -> Self {
        Cell { text: format!("{}{mark}", self.text), ..self }
    }

    /// A number of any size: five significant digits.
    pub fn digits(value: f64) -> Self {
        Cell::shown(rounded(value, 4).to_string(), value)
    }

    /// A share in per cent.
    pub fn percent(value: f64) -> Self {
        Cell::shown(percent(value), value)
    }

    /// A share in per cent with the ends of its interval.
    pub fn percent_interval(value: f64, low: f64, high: f64) -> Self {
        Cell::shown(format!("{} ({}–{})", percent(value), percent(low), percent(high)), value)
    }

    /// A small picture.
    pub fn picture(svg: String) -> Self {
        Cell { svg, ..Cell::text("") }
    }

    /// A number that may be absent.
    pub fn optional(value: Option<f64>, cell: impl Fn(f64) -> Cell) -> Self {
        value.map_or(Cell { is_number: true, ..Cell::text("–") }, cell)
    }

    /// A count or weight: whole numbers without decimals.
    pub fn amount(value: f64) -> Self {
        Cell::number(value, if value.fract() == 0.0 { 0 } else { 2 })
    }
}

/// A share in per cent, two decimals.
pub fn percent(x: f64) -> String {
    format!("{:.2}", 100.0 * x)
}

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn rounding_keeps_numbers_finite() {
        assert_eq!(Cell::digits(123456.789).text, "123460");
        assert!(Cell::digits(f64::MAX).text.parse::<f64>().unwrap().is_finite());
    }
}
