//! Coloured cells over two lists of labels. The value sets how strong the colour is, so that one rule
//! serves light and dark pages.

use super::frame::{WIDTH, label_room, open, put, row_label, shorten, text_width};
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
    /// One list a row; the size sets the strength, the sign the colour. None leaves the place empty.
    pub values: Vec<Vec<Option<f64>>>,
    /// What stands in a cell, a line or two, as far as there is room.
    pub texts: Vec<Vec<String>>,
    /// The value of full strength.
    pub full: f64,
}

/// Cells of larger grids have no text on demand: the table beside the figure has the numbers.
const NAMED_CELLS: usize = 144;
/// Height of a grid with many rows.
const TALL: f64 = 380.0;
/// Height of a line of labels.
const LINE: f64 = 13.5;
/// Letters of a column label.
const LETTERS: usize = 14;

/// Where the cells lie.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// The grid as SVG text.
pub fn heat_map(grid: &Grid) -> String {
    let (mut room, most) = label_room(grid.rows.iter().map(String::as_str));
    room += 20.0;
    let (n, m) = (grid.columns.len().max(1) as f64, grid.rows.len() as f64);
    let width = ((WIDTH - room - 6.0) / n).min(84.0);
    // as high as wide, but no higher than a page
    let height = width.min(44.0).min((TALL / m.max(1.0)).max(16.0)).max(4.0);
    let labels = ColumnLabels::new(grid.columns, width);
    let frame = Frame { left: room, top: 22.0 + labels.height(), width, height };
    let mut out = open(frame.top + height * m + 6.0, &grid.label);
    put(
        &mut out,
        format_args!(
            "<text class=\"label\" x=\"{:.1}\" y=\"13\" text-anchor=\"middle\">{}</text>",
            (room + width * n / 2.0).max(room + 4.0),
            escape(&shorten(grid.x, 40))
        ),
    );
    put(
        &mut out,
        format_args!(
            "<text class=\"label\" transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            frame.top + height * m / 2.0,
            escape(&shorten(grid.y, ((height * m + 20.0) / 7.2) as usize))
        ),
    );
    labels.draw(&mut out, grid.columns, &frame);
    put(
        &mut out,
        format_args!(
            "<rect class=\"paper\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n",
            frame.left,
            frame.top,
            width * n,
            height * m
        ),
    );
    let step = (LINE / height).ceil().max(1.0) as usize;
    for (i, row) in grid.rows.iter().enumerate() {
        let y = frame.top + height * (i as f64 + 0.5);
        if i % step == 0 {
            row_label(&mut out, room - 8.0, y, row, most);
        }
        for j in 0..grid.columns.len() {
            draw_cell(&mut out, grid, (i, j), &frame);
        }
    }
    out.push_str("</svg>");
    out
}

/// How column labels are written: side by side, or upright letters turned, as many as fit.
struct ColumnLabels {
    turned: bool,
    step: usize,
    letters: usize,
}

impl ColumnLabels {
    fn new(columns: &[String], width: f64) -> Self {
        let longest = columns.iter().map(|c| c.chars().count()).max().unwrap_or(1);
        let are_numbers = columns.iter().all(|c| c.parse::<f64>().is_ok());
        // numbers along an axis may be left out, names should not
        let step =
            if are_numbers { ((longest as f64 + 1.5) * 8.3 / width).ceil().max(1.0) as usize } else { 1 };
        if are_numbers || columns.iter().all(|c| text_width(c) <= width) {
            return ColumnLabels { turned: false, step, letters: longest };
        }
        let step = (LINE / width).ceil().max(1.0) as usize;
        ColumnLabels { turned: true, step, letters: longest.min(LETTERS) }
    }

    fn height(&self) -> f64 {
        if self.turned { self.letters as f64 * 7.2 + 8.0 } else { 18.0 }
    }

    fn draw(&self, out: &mut String, columns: &[String], frame: &Frame) {
        for (j, column) in columns.iter().enumerate().step_by(self.step) {
            let (x, y) = (frame.left + frame.width * (j as f64 + 0.5), frame.top - 6.0);
            if !self.turned && x + text_width(column) / 2.0 > WIDTH {
                break;
            }
            let (place, anchor) = if self.turned {
                (format!("transform=\"translate({:.1} {y:.1}) rotate(-90)\"", x + 4.0), "start")
            } else {
                (format!("x=\"{x:.1}\" y=\"{y:.1}\""), "middle")
            };
            put(
                out,
                format_args!(
                    "<text class=\"row\" {place} text-anchor=\"{anchor}\"><title>{}</title>{}</text>\n",
                    escape(column),
                    escape(&shorten(column, self.letters))
                ),
            );
        }
    }
}

fn draw_cell(out: &mut String, grid: &Grid, (i, j): (usize, usize), frame: &Frame) {
    let is_large = grid.rows.len() * grid.columns.len() > NAMED_CELLS;
    // most cells of a large grid hold nothing: they stay paper
    let Some(value) = grid.values[i][j].filter(|v| !is_large || *v != 0.0) else { return };
    let (w, h) = (frame.width, frame.height);
    let (x, y) = (frame.left + w * j as f64, frame.top + h * i as f64);
    // a hair between large cells; small ones would turn into a grille
    let gap = if h > 10.0 { 0.5 } else { 0.0 };
    let strength = if grid.full > 0.0 { (value.abs() / grid.full).clamp(0.0, 1.0) } else { 0.0 };
    let class = if value < 0.0 { "cell negative" } else { "cell" };
    put(
        out,
        format_args!(
            "<rect class=\"{class}\" fill-opacity=\"{:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"",
            0.04 + 0.78 * strength,
            x + gap,
            y + gap,
            w - 2.0 * gap,
            h - 2.0 * gap
        ),
    );
    let text = &grid.texts[i][j];
    if is_large {
        out.push_str("/>\n");
    } else {
        put(
            out,
            format_args!(
                "><title>{} / {}: {}</title></rect>",
                escape(&grid.rows[i]),
                escape(&grid.columns[j]),
                escape(&text.replace('\n', ", "))
            ),
        );
    }
    let fits = |line: &&str| line.chars().count() as f64 * 7.4 < w;
    let rows = ((h - 2.0) / LINE) as usize;
    let lines: Vec<&str> = text.lines().take(rows).take_while(fits).collect();
    if !lines.is_empty() {
        // where the page turns light letters into dark ones, or the other way round, to keep them readable
        let class = if strength > 0.86 { "in-cell deep" } else { "in-cell" };
        let (x, first) = (x + w / 2.0, y + h / 2.0 + 4.5 - LINE / 2.0 * (lines.len() - 1) as f64);
        put(out, format_args!("<text class=\"{class}\" text-anchor=\"middle\">"));
        for (k, line) in lines.iter().enumerate() {
            let y = first + LINE * k as f64;
            put(out, format_args!("<tspan x=\"{x:.1}\" y=\"{y:.1}\">{}</tspan>", escape(line)));
        }
        out.push_str("</text>\n");
    }
}
