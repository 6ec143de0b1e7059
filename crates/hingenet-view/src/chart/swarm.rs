//! A dot for each row, one line a feature: dots that would cover each other stand side by side (a beeswarm).

use super::Axis;
use super::frame::{Area, WIDTH, label_room, open, put, row_label, x_axis, x_rule};

const ROW: f64 = 26.0;
/// Dots nearer than this share a column.
const COLUMN: f64 = 3.6;
/// Shades from low to high levels.
const SHADES: usize = 5;

/// One line: its name, and of each dot the value and the level from 0 to 1 that colours it.
pub type SwarmRow<'a> = (&'a str, Vec<(f64, f64)>);

/// Lines over a common axis through 0; low levels are blue, high ones orange, those between pale.
pub fn swarm_chart(label: &str, axis_label: &str, rows: &[SwarmRow]) -> String {
    let axis = Axis::over(axis_label, rows.iter().flat_map(|r| r.1.iter().map(|d| d.0)).chain([0.0]));
    let (room, most) = label_room(rows.iter().map(|r| r.0));
    let area = Area { left: room, right: WIDTH - 16.0, top: 4.0, bottom: 4.0 + ROW * rows.len() as f64 };
    let mut out = open(area.bottom + 42.0, label);
    x_axis(&mut out, area, &axis);
    x_rule(&mut out, area, &axis, 0.0);
    for (k, (name, dots)) in rows.iter().enumerate() {
        let middle = area.top + ROW * (k as f64 + 0.5);
        row_label(&mut out, area.left - 8.0, middle, name, most);
        let places: Vec<f64> = dots.iter().map(|d| area.x(&axis, d.0)).collect();
        let offsets = offsets(&places);
        // one path for each shade: a dot is a line without length
        for shade in 0..SHADES {
            let is_shade = |i: &usize| ((dots[*i].1 * SHADES as f64) as usize).min(SHADES - 1) == shade;
            let dots = (0..dots.len()).filter(is_shade);
            let path: String =
                dots.map(|i| format!("M{:.1} {:.1}h0", places[i], middle + offsets[i])).collect();
            if !path.is_empty() {
                let strength = 2.0 * shade as f64 / (SHADES - 1) as f64 - 1.0;
                let class = if strength <= 0.0 { "for" } else { "against" };
                let opacity = 0.3 + 0.7 * strength.abs();
                put(
                    &mut out,
                    format_args!(
                        "<path class=\"dot {class}\" stroke-opacity=\"{opacity:.2}\" d=\"{path}\"/>"
                    ),
                );
            }
        }
        out.push('\n');
    }
    out.push_str("</svg>");
    out
}

/// How far each dot moves up or down so that those of one column stand apart, within the line.
fn offsets(places: &[f64]) -> Vec<f64> {
    let column = |x: f64| (x / COLUMN).floor() as i64;
    let fullest = places.iter().map(|x| places.iter().filter(|y| column(**y) == column(*x)).count()).max();
    let step = COLUMN.min((ROW - 4.0) / fullest.unwrap_or(1) as f64);
    let before = |i: usize| places[..i].iter().filter(|x| column(**x) == column(places[i])).count();
    let offset = |i: usize| {
        let n = before(i);
        n.div_ceil(2) as f64 * if n % 2 == 0 { step } else { -step }
    };
    (0..places.len()).map(offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_one_column_stand_apart_within_their_line() {
        let moved = offsets(&[10.0, 10.1, 50.0, 10.2, 10.0]);
        assert_eq!(moved, [0.0, -COLUMN, 0.0, COLUMN, -2.0 * COLUMN]);
        assert!(offsets(&[1.0; 200]).iter().all(|o| o.abs() <= ROW / 2.0));
    }

    #[test]
    fn every_dot_is_drawn_in_the_colour_of_its_level() {
        let rows = [("a", vec![(1.0, 0.0), (-1.0, 1.0)]), ("b", vec![(0.0, 0.5)])];
        let svg = swarm_chart("swarm", "log-odds", &rows);
        assert_eq!(svg.matches("h0").count(), 3);
        let shades = [
            "dot for\" stroke-opacity=\"1.00",
            "dot against\" stroke-opacity=\"1.00",
            "dot for\" stroke-opacity=\"0.30",
        ];
        assert!(shades.iter().all(|shade| svg.contains(shade)), "{svg}");
    }
}
