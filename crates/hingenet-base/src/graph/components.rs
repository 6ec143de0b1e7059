//! Strongly connected components of a directed graph (Tarjan's algorithm, without recursion).

/// The strongly connected components of the graph with these children, in topological order: an arc
/// between two components runs from the earlier to the later one. Nodes within a component ascend.
pub fn strong_components(children: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n = children.len();
    let mut walk =
        Walk { index: vec![UNSEEN; n], low: vec![0; n], on_stack: vec![false; n], ..Walk::default() };
    for root in 0..n {
        if walk.index[root] == UNSEEN {
            walk.from(root, children);
        }
    }
    walk.found.reverse();
    walk.found
}

const UNSEEN: usize = usize::MAX;

#[derive(Default)]
struct Walk {
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Walk {
    fn enter(&mut self, v: usize) {
        self.index[v] = self.next;
        self.low[v] = self.next;
        self.next += 1;
        self.stack.push(v);
        self.on_stack[v] = true;
    }

    fn from(&mut self, root: usize, children: &[Vec<usize>]) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((v, at)) = path.last_mut() {
            let v = *v;
            if let Some(&c) = children[v].get(*at) {
                *at += 1;
                if self.index[c] == UNSEEN {
                    self.enter(c);
                    path.push((c, 0));
                } else if self.on_stack[c] {
                    self.low[v] = self.low[v].min(self.index[c]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[v]);
            }
            if self.low[v] == self.index[v] {
                self.close(v);
            }
        }
    }

    /// `v` is the first node of its component: everything above it on the stack belongs to it.
    fn close(&mut self, v: usize) {
        let mut component = Vec::new();
        while let Some(u) = self.stack.pop() {
            self.on_stack[u] = false;
            component.push(u);
            if u == v {
                break;
            }
        }
        component.sort_unstable();
        self.found.push(component);
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
