//! Pictures of networks: nodes in layers, the class on top, arc width by strength; networks of several classes side by
//! side in one layout, how they differ, and the arcs as a matrix.

mod file;
mod layout;
mod matrix;
mod panel;
mod place;
mod svg;

pub use file::{matrices_svg, moved_svg, networks_svg};
pub use layout::{Layout, Place, layout};
pub(crate) use layout::{layout_cards, rows_of_cards, without_cycles};
pub use matrix::adjacency_matrix;
pub use panel::{CHANGES, class_panel, common_layout, difference_panel, look};
pub use svg::{network_fragment, network_svg};
