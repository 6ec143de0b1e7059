//! Which entries of the parameters depend on the class, and where they stand side by side (vector `v`).

use crate::Structure;

/// The class-dependent entries of a structure, group by group: the K entries `w^i_{x_i|c, rest}` of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    n_classes: usize,
    /// Class-dependent nodes: the class first, then its children.
    nodes: Vec<usize>,
    /// Entry in w of `group * K + c`.
    entry: Vec<u32>,
    /// First group of each node; one more entry at the end.
    slot_groups: Vec<usize>,
}

impl Layout {
    /// The layout of a structure.
    pub fn new(structure: &Structure) -> Self {
        let k = structure.n_classes();
        let is_slot = |&i: &usize| i == 0 || structure.is_class_child(i);
        let nodes: Vec<usize> = (0..structure.n_nodes()).filter(is_slot).collect();
        let mut entry = Vec::new();
        let mut slot_groups = Vec::with_capacity(nodes.len() + 1);
        for &i in &nodes {
            slot_groups.push(entry.len() / k);
            let table = structure.table(i);
            // The class has number 0: as a parent it is the most significant digit of the row number.
            let per_class = table.len() / k;
            let (step, count) = if i == 0 { (1, per_class) } else { (per_class, per_class) };
            for g in 0..count {
                let base = table.start + if i == 0 { g * k } else { g };
                entry.extend((0..k).map(|c| (base + c * step) as u32));
            }
        }
        slot_groups.push(entry.len() / k);
        Layout { n_classes: k, nodes, entry, slot_groups }
    }

    /// Number of classes K.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Class-dependent nodes: the class first, then its children.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// Number of class-dependent nodes.
    pub fn n_slots(&self) -> usize {
        self.nodes.len()
    }

    /// Length of `v`: all class-dependent entries.
    pub fn n_cells(&self) -> usize {
        self.entry.len()
    }

    /// Entry in w of each cell of `v`.
    pub fn entries(&self) -> &[u32] {
        &self.entry
    }

    /// First group of each class-dependent node, and the number of groups at the end.
    pub fn slot_groups(&self) -> &[usize] {
        &self.slot_groups
    }

    /// The class-dependent entries of a vector laid out as w.
    pub fn gather(&self, w: &[f64]) -> Vec<f64> {
        self.entry.iter().map(|&e| w[e as usize]).collect()
    }

    /// Adds `v` to the class-dependent entries of a vector laid out as w.
    pub fn scatter_add(&self, v: &[f64], w: &mut [f64]) {
        for (&e, x) in self.entry.iter().zip(v) {
            w[e as usize] += x;
        }
    }
}
