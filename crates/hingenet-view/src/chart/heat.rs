//! Coloured cells over two lists of labels. The value sets how strong the colour is, so that one rule
//! serves light and dark pages.

use super::frame::{WIDTH, label_room, open, put, shorten};
use crate::escape;

/// What to draw.
#[derive(Debug, Clone)]
pub struct Grid<'a> {
    /// What it shows, for screen readers.
    pub label: String,
    /// Name of the horizontal axis.
    pub x: &'a str,
    /// Name of the vertical axis.
    pub y: &'a str,
    /// Labels of the columns.
    pub columns: &'a [String],
    /// Labels of the rows.
    pub rows: &'a [String],
    /// One list a row; the size sets the strength, the sign the colour.
    pub values: &'a [Vec<f64>],
    /// What stands in a cell, where there is room.
    pub texts: Vec<Vec<String>>,
    /// The value of full strength.
    pub full: f64,
}

/// The grid as SVG text.
pub fn heat_map(grid: &Grid) -> String {
    let (mut room, most) = label_room(grid.rows.iter().map(String::as_str));
    room += 18.0;
    let n = grid.columns.len().max(1) as f64;
    let cell = ((WIDTH - room - 6.0) / n).min(84.0);
    let tall = cell.min(44.0);
    let fits = (cell / 7.4) as usize;
    let upright = grid.columns.iter().all(|c| c.chars().count() <= fits.max(2));
    let longest = grid.columns.iter().map(|c| c.chars().count()).max().unwrap_or(1).min(14);
    let head = 22.0 + if upright { 18.0 } else { longest as f64 * 7.0 + 8.0 };
    let height = head + tall * grid.rows.len() as f64 + 6.0;
    let mut out = open(height, &grid.label);
    put(
        &mut out,
        format_args!(
            "<text class=\"label\" x=\"{:.1}\" y=\"13\" text-anchor=\"middle\">{}</text>",
            room + cell * n / 2.0,
            escape(grid.x)
        ),
    );
    let middle = head + tall * grid.rows.len() as f64 / 2.0;
    put(
        &mut out,
        format_args!(
            "<text class=\"label\" transform=\"translate(13 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            escape(grid.y)
        ),
    );
    for (j, column) in grid.columns.iter().enumerate() {
        let x = room + cell * (j as f64 + 0.5);
        let (place, anchor) = if upright {
            (format!("x=\"{x:.1}\" y=\"{:.1}\"", head - 6.0), "middle")
        } else {
            (format!("transform=\"translate({:.1} {:.1}) rotate(-90)\"", x + 4.0, head - 6.0), "start")
        };
        put(
            &mut out,
            format_args!(
                "<text class=\"row\" {place} text-anchor=\"{anchor}\"><title>{}</title>{}</text>\n",
                escape(column),
                escape(&shorten(column, longest.max(fits.min(14))))
            ),
        );
    }
    for (i, row) in grid.rows.iter().enumerate() {
        let y = head + tall * i as f64;
        super::frame::row_label(&mut out, room - 8.0, y + tall / 2.0, row, most);
        for j in 0..grid.columns.len() {
            draw_cell(&mut out, grid, (i, j), (room + cell * j as f64, y), (cell, tall));
        }
    }
    out.push_str("</svg>");
    out
}

fn draw_cell(out: &mut String, grid: &Grid, (i, j): (usize, usize), (x, y): (f64, f64), (w, h): (f64, f64)) {
    let value = grid.values[i][j];
    let strength = if grid.full > 0.0 { (value.abs() / grid.full).clamp(0.0, 1.0) } else { 0.0 };
    let class = if value < 0.0 { "cell negative" } else { "cell" };
    put(
        out,
        format_args!(
            "<g><title>{} / {}: {}</title>",
            escape(&grid.rows[i]),
            escape(&grid.columns[j]),
            escape(&grid.texts[i][j])
        ),
    );
    put(
        out,
        format_args!(
            "<rect class=\"paper\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            x + 0.5,
            y + 0.5,
            w - 1.0,
            h - 1.0
        ),
    );
    put(
        out,
        format_args!(
            "<rect class=\"{class}\" fill-opacity=\"{:.3}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            0.04 + 0.9 * strength,
            x + 0.5,
            y + 0.5,
            w - 1.0,
            h - 1.0
        ),
    );
    let text = &grid.texts[i][j];
    if text.chars().count() as f64 * 7.4 < w && h > 16.0 {
        let class = if strength > 0.5 { "on-colour" } else { "off-colour" };
        put(
            out,
            format_args!(
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + w / 2.0,
                y + h / 2.0 + 4.5,
                escape(text)
            ),
        );
    }
    out.push_str("</g>\n");
}
