//! One colour and marker per model, the same in all figures. Colours are those of Okabe and Ito, which
//! colour-blind readers tell apart; markers and dashes tell series apart without any colour.

/// How one series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesStyle {
    /// Number of the colour class `s0` to `s6`, or 7 for the neutral grey of a baseline.
    pub colour: usize,
    /// Number of the marker.
    pub marker: usize,
}

const COLOURS: usize = 7;
const NEUTRAL: usize = 7;
const MARKERS: usize = 6;

/// The model that answers with the class frequencies.
pub const BASELINE: &str = "majority";

/// A style for each name; the baseline is grey.
pub fn series_styles(names: &[&str]) -> Vec<SeriesStyle> {
    let mut next = 0;
    let style = |name: &&str| {
        if *name == BASELINE {
            return SeriesStyle { colour: NEUTRAL, marker: 5 };
        }
        let k = next;
        next += 1;
        // once all colours are used, markers shift so that no pair comes twice soon
        SeriesStyle { colour: k % COLOURS, marker: (k + k / COLOURS) % MARKERS }
    };
    names.iter().map(style).collect()
}

/// Styles for parts beside a whole: none has its colour.
pub fn styles_beside(whole: SeriesStyle, n: usize) -> Vec<SeriesStyle> {
    let all = (0..).map(|k| SeriesStyle { colour: k % COLOURS, marker: k % MARKERS });
    all.filter(|s| s.colour != whole.colour).take(n).collect()
}

impl SeriesStyle {
    /// CSS class of the colour.
    pub fn class(self) -> String {
        format!("s{}", self.colour)
    }

    /// Path of the marker around a point.
    pub fn marker_path(self, x: f64, y: f64) -> String {
        let at = |shape: &str| format!("M{x:.1} {y:.1}{shape}");
        match self.marker {
            0 => at("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"),
            1 => at("m-3.6 -3.6h7.2v7.2h-7.2z"),
            2 => at("m0 -4.6l4.4 7.8h-8.8z"),
            3 => at("m0 -5l5 5l-5 5l-5 -5z"),
            4 => at("m0 4.6l4.4 -7.8h-8.8z"),
            _ => at("m-4 -1.6h2.4v-2.4h3.2v2.4h2.4v3.2h-2.4v2.4h-3.2v-2.4h-2.4z"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_keep_apart_and_the_baseline_is_grey() {
        let names: Vec<String> = (0..20).map(|k| format!("m{k}")).collect();
        let names: Vec<&str> = std::iter::once("majority").chain(names.iter().map(String::as_str)).collect();
        let styles = series_styles(&names);
        assert_eq!(styles[0].colour, NEUTRAL);
        for (i, a) in styles.iter().enumerate() {
            assert!(styles[..i].iter().all(|b| a != b), "{a:?}");
        }
    }
}
