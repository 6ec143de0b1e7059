//! Strongly connected components of a directed graph (Kosaraju's algorithm, without recursion).

/// The strongly connected components of the graph with these children, in topological order: an arc
/// between two components runs from the earlier to the later one. Nodes within a component ascend.
pub(super) fn strong_components(children: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut parents = vec![Vec::new(); children.len()];
    for (v, list) in children.iter().enumerate() {
        list.iter().for_each(|&c| parents[c].push(v));
    }
    let (mut seen, mut ended) = (vec![false; children.len()], Vec::new());
    (0..children.len()).for_each(|v| walk(v, children, &mut seen, &mut ended));
    // The node that ended last lies in a first component: against the arcs nothing else is reached from it.
    seen.fill(false);
    let mut found = Vec::new();
    for &v in ended.iter().rev() {
        if seen[v] {
            continue;
        }
        let mut component = Vec::new();
        walk(v, &parents, &mut seen, &mut component);
        component.sort_unstable();
        found.push(component);
    }
    found
}

/// Lists what is reached from `root` and was not seen before, every node after those that were reached through it.
fn walk(root: usize, next: &[Vec<usize>], seen: &mut [bool], ended: &mut Vec<usize>) {
    let mut path = if seen[root] { vec![] } else { vec![(root, 0)] };
    seen[root] = true;
    while let Some((v, at)) = path.last_mut() {
        let Some(&u) = next[*v].get(*at) else {
            ended.push(*v);
            path.pop();
            continue;
        };
        *at += 1;
        if !std::mem::replace(&mut seen[u], true) {
            path.push((u, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_in_topological_order() {
        // 3 -> {0 <-> 1} -> 2, 4 alone
        let found = strong_components(&[vec![1], vec![0, 2], vec![], vec![0], vec![]]);
        let place = |v: usize| found.iter().position(|c| c.contains(&v)).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(place(0), place(1));
        assert!(place(3) < place(0) && place(0) < place(2));
    }
}
