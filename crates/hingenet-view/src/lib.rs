//! Draws what Hingenet found. Plain data (`hingenet::report`) goes in, SVG and HTML text comes out; no
//! mathematics of the models lives here, and nothing is read from or sent anywhere.

pub mod chart;
mod escape;
pub mod explorer;
pub mod network;
mod page;
mod table;

pub use escape::escape;
pub use page::{evaluation_page, model_page, network_page};
pub use table::{Cell, DataTable};
