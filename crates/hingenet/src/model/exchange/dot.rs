//! The graph in DOT, the language of Graphviz: the class marked, arcs from parent to child.

use hingenet_base::graph::Dag;
use std::fmt::Write;

/// DOT text of a graph; node 0 is the class and drawn as a box.
pub(super) fn dot(dag: &Dag, names: &[&str]) -> String {
    let mut out = String::from("digraph hingenet {\n  node [shape=ellipse, fontname=\"sans-serif\"];\n");
    for (i, name) in names.iter().enumerate() {
        let class = if i == 0 { ", shape=box, style=\"filled,bold\", fillcolor=\"#cfe2f3\"" } else { "" };
        // Writing to a string cannot fail; the results are dropped on purpose.
        let _ = writeln!(out, "  n{i} [label=\"{}\"{class}];", quote(name));
    }
    for (from, to) in dag.arcs() {
        let style = if from == 0 { " [color=\"#999999\"]" } else { "" };
        let _ = writeln!(out, "  n{from} -> n{to}{style};");
    }
    out.push_str("}\n");
    out
}

/// A name between quotes.
pub(crate) fn quote(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_the_class_is_marked() {
        let dag = Dag::new(vec![vec![], vec![0]]).unwrap();
        let text = dot(&dag, &["the \"class\"", "x\\y"]);
        assert!(text.contains("n0 [label=\"the \\\"class\\\"\", shape=box"), "{text}");
        assert!(text.contains("n1 [label=\"x\\\\y\"];") && text.contains("n0 -> n1"), "{text}");
    }
}
