//! A histogram as small as a line of text: bars of values, parted by class.

use super::frame::put;
use crate::escape;

const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 30.0;
/// Classes of a colour of their own; all others together are grey.
const COLOURED: usize = 6;
const OTHERS: usize = 7;

/// Colour classes of so many classes of rows, and which of them each is.
pub fn class_colours(n_classes: usize) -> Vec<usize> {
    (0..n_classes).map(|c| if c < COLOURED { c } else { OTHERS }).collect()
}

/// Bars of equal width, each a stack of the weights of its classes.
pub fn stacked_bars(label: &str, bins: &[&[f64]]) -> String {
    let mut out = format!(
        "<svg class=\"spark\" viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" width=\"{WIDTH:.0}\" height=\"{HEIGHT:.0}\" role=\"img\" \
         aria-label=\"{}\">",
        escape(label)
    );
    let tallest = bins.iter().map(|bin| bin.iter().sum::<f64>()).fold(0.0, f64::max);
    let step = WIDTH / bins.len().max(1) as f64;
    let width = (step - 1.0).min(22.0);
    let n_classes = bins.iter().map(|bin| bin.len()).max().unwrap_or(0);
    let colours = class_colours(n_classes);
    let mut below = vec![0.0; bins.len()];
    let mut drawn: Vec<usize> = colours.clone();
    drawn.dedup();
    for colour in drawn {
        let mut path = String::new();
        for (k, bin) in bins.iter().enumerate() {
            let weight: f64 = bin.iter().zip(&colours).filter(|(_, c)| **c == colour).map(|(w, _)| w).sum();
            let height = if tallest > 0.0 { weight / tallest * (HEIGHT - 1.0) } else { 0.0 };
            if height > 0.0 {
                let (x, y) = (step * k as f64, HEIGHT - below[k]);
                put(&mut path, format_args!("M{x:.1} {y:.1}h{width:.1}v{:.1}h-{width:.1}z", -height));
            }
            below[k] += height;
        }
        if !path.is_empty() {
            put(&mut out, format_args!("<path class=\"bar s{colour}\" d=\"{path}\"/>"));
        }
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_that_occurs_has_a_bar() {
        let svg = stacked_bars("<x>", &[&[3.0, 1.0], &[0.0, 2.0]]);
        assert!(svg.contains("aria-label=\"&lt;x&gt;\""));
        assert_eq!((svg.matches("bar s0").count(), svg.matches("bar s1").count()), (1, 1));
        // three bars: two of the second class, stacked upon the first in the first bin
        assert_eq!(svg.matches('z').count(), 3);
        let many = vec![1.0; 20];
        assert_eq!(stacked_bars("x", &[&many]).matches("<path").count(), COLOURED + 1);
        assert!(!stacked_bars("x", &[]).contains("<path"));
    }
}
