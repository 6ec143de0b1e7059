//! Pictures of networks: nodes in layers, the class on top, arc width by strength.

mod layout;
mod svg;

pub use layout::{Layout, Place, layout};
pub use svg::{network_fragment, network_svg};
