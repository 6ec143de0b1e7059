//! Results as plain data; other crates draw them.

mod picture;

pub use picture::{NetworkPicture, PictureArc, PictureNode};
