//! Small charts as SVG text. Colours are CSS classes of the page, so that light, dark and print work; every
//! chart is part of a [`Figure`] with a sentence on how to read it and a table of its numbers.

mod bars;
mod dots;
mod drawing;
mod figure;
mod frame;
mod heat;
mod lines;
mod scale;
mod spark;
mod style;
mod swarm;
mod waterfall;

pub use bars::{Bar, BarSeries, bar_chart, grouped_bars, histogram};
pub use dots::{DotRow, dot_chart};
pub use drawing::{Drawing, DrawnAxis, Series};
pub use figure::{Figure, LegendEntry};
pub use frame::text_width;
pub use heat::{Grid, heat_map};
pub use lines::{Dots, ErrorBar, Line, LineChart, Markers};
pub use scale::{Axis, nice_ticks};
pub use spark::{class_colours, stacked_bars};
pub use style::{BASELINE, SeriesStyle, series_styles, styles_beside};
pub use swarm::{SwarmRow, swarm_chart};
pub use waterfall::waterfall;
