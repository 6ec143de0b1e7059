//! Small charts as SVG text. Colours are CSS classes of the page, so that light, dark and print work; every
//! chart is part of a [`Figure`] with a sentence on how to read it and a table of its numbers.

mod bars;
mod dots;
mod figure;
mod frame;
mod heat;
mod lines;
mod scale;
mod style;
mod waterfall;

pub use bars::{Bar, bar_chart, histogram};
pub use dots::{DotRow, dot_chart};
pub use figure::{Figure, LegendEntry};
pub use heat::{Grid, heat_map};
pub use lines::{ErrorBar, Line, LineChart};
pub use scale::{Axis, nice_ticks};
pub use style::{SeriesStyle, series_styles};
pub use waterfall::waterfall;
