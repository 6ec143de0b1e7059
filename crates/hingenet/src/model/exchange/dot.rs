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

/// A weighted graph to write, with the label of its cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedGraph {
    /// Label; empty for a graph that stands alone.
    pub label: String,
    /// Arcs `(from, to, weight, is_compelled)`; the others may be turned round without a worse fit.
    pub arcs: Vec<(usize, usize, f64, bool)>,
}

/// DOT text of weighted graphs over the same nodes, each in a cluster of its own: negative weights are dashed, arcs
/// whose direction is open have an empty head, the width grows with the weight.
pub fn weighted_dot(names: &[&str], graphs: &[WeightedGraph]) -> String {
    let mut out = String::from("digraph hingenet {\n  node [shape=ellipse, fontname=\"sans-serif\"];\n");
    let largest = graphs.iter().flat_map(|g| &g.arcs).map(|a| a.2.abs()).fold(f64::MIN_POSITIVE, f64::max);
    for (g, graph) in graphs.iter().enumerate() {
        // Writing to a string cannot fail; the results are dropped on purpose.
        let _ = writeln!(out, "  subgraph cluster_{g} {{\n    label=\"{}\";", quote(&graph.label));
        for (i, name) in names.iter().enumerate() {
            let _ = writeln!(out, "    g{g}n{i} [label=\"{}\"];", quote(name));
        }
        for &(from, to, weight, is_compelled) in &graph.arcs {
            let style =
                if weight < 0.0 { ", style=dashed, color=\"#d55e00\"" } else { ", color=\"#0072b2\"" };
            let head = if is_compelled { "" } else { ", arrowhead=empty" };
            let width = 0.6 + 3.0 * weight.abs() / largest;
            let _ = writeln!(
                out,
                "    g{g}n{from} -> g{g}n{to} [weight={:.0}, penwidth={width:.2}, tooltip=\"{weight:.4}\"{style}{head}];",
                1.0 + 9.0 * weight.abs() / largest
            );
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn quote(name: &str) -> String {
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

    #[test]
    fn weighted_graphs_show_sign_and_open_direction() {
        let arcs = vec![(0, 1, -0.5, true), (1, 2, 1.0, false)];
        let graph = WeightedGraph { label: "class \"a\"".into(), arcs };
        let text = weighted_dot(&["x", "y", "z"], &[graph.clone(), graph]);
        assert!(
            text.contains("label=\"class \\\"a\\\"\"") && text.matches("style=dashed").count() == 2,
            "{text}"
        );
        assert!(text.matches("arrowhead=empty").count() == 2 && text.contains("g1n1 -> g1n2"), "{text}");
    }
}
