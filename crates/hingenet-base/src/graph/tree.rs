//! Trees: maximum-weight spanning tree (Kruskal) and the direction of its edges away from a root.

/// An undirected edge with its weight; `a < b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Lower end.
    pub a: usize,
    /// Upper end.
    pub b: usize,
    /// Weight.
    pub weight: f64,
}

/// Maximum-weight spanning forest of nodes `0..n`, edges by `(a, b)` ascending. Kruskal: weights
/// descending, ties by `(a, b)` ascending.
pub fn maximum_spanning_tree(n: usize, mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by(|x, y| y.weight.total_cmp(&x.weight).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut leader: Vec<usize> = (0..n).collect();
    let mut joins = |e: &Edge| {
        let (a, b) = (find(&mut leader, e.a), find(&mut leader, e.b));
        leader[a.max(b)] = a.min(b);
        a != b
    };
    let mut tree: Vec<Edge> = edges.into_iter().filter(|e| joins(e)).collect();
    tree.sort_by_key(|e| (e.a, e.b));
    tree
}

/// Directs the edges of a forest away from `root`, and in every other component away from its
/// lowest-numbered node: the parent of each node.
pub fn orient(n: usize, edges: &[Edge], root: usize) -> Vec<Option<usize>> {
    let mut neighbours = vec![Vec::new(); n];
    for e in edges {
        neighbours[e.a].push(e.b);
        neighbours[e.b].push(e.a);
    }
    let mut parent = vec![None; n];
    let mut seen = vec![false; n];
    for start in std::iter::once(root).chain(0..n) {
        let mut stack = if seen[start] { vec![] } else { vec![start] };
        seen[start] = true;
        while let Some(i) = stack.pop() {
            for &j in &neighbours[i] {
                if !seen[j] {
                    seen[j] = true;
                    parent[j] = Some(i);
                    stack.push(j);
                }
            }
        }
    }
    parent
}

/// The lowest-numbered node that each of the nodes `0..n` is connected with.
pub fn components(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut leader: Vec<usize> = (0..n).collect();
    for (a, b) in edges {
        let (a, b) = (find(&mut leader, a), find(&mut leader, b));
        leader[a.max(b)] = a.min(b);
    }
    (0..n).map(|i| find(&mut leader, i)).collect()
}

/// The node that stands for the set of `i`; the way there is halved.
fn find(leader: &mut [usize], mut i: usize) -> usize {
    while leader[i] != i {
        leader[i] = leader[leader[i]];
        i = leader[i];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: usize, b: usize, weight: f64) -> Edge {
        Edge { a, b, weight }
    }

    #[test]
    fn components_are_named_after_their_lowest_node() {
        assert_eq!(components(7, [(5, 2), (6, 5), (4, 1), (2, 6)]), [0, 1, 2, 3, 1, 2, 2]);
    }

    #[test]
    fn equal_weights_are_taken_in_the_order_of_their_ends() {
        let edges = vec![edge(1, 2, 1.0), edge(0, 2, 1.0), edge(0, 1, 1.0), edge(2, 3, 0.0)];
        let tree = maximum_spanning_tree(4, edges);
        assert_eq!(tree.iter().map(|e| (e.a, e.b)).collect::<Vec<_>>(), [(0, 1), (0, 2), (2, 3)]);
    }

    #[test]
    fn edges_point_away_from_the_root() {
        let tree = [edge(0, 1, 1.0), edge(1, 2, 1.0), edge(3, 4, 1.0)];
        assert_eq!(orient(5, &tree, 2), [Some(1), Some(2), None, None, Some(3)]);
    }
}
