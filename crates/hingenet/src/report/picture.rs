//! A network as a picture needs it: names, arcs and how strong they are. Made by the families, drawn by
//! the view.

use serde::{Deserialize, Serialize};

/// A graph to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkPicture {
    /// What is drawn, for the caption and for screen readers.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<PictureNode>,
    /// The arcs.
    pub arcs: Vec<PictureArc>,
    /// What the strength of an arc measures, for the legend; `None` if all arcs are alike.
    pub strength: Option<String>,
}

/// A node to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureNode {
    /// Label.
    pub name: String,
    /// Whether it is the class.
    pub is_class: bool,
    /// Further facts shown on demand.
    pub note: String,
}

/// An arc to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureArc {
    /// Tail, by position.
    pub from: usize,
    /// Head, by position.
    pub to: usize,
    /// Strength in the unit of the legend; its size sets the width, its sign the colour.
    pub strength: f64,
}
