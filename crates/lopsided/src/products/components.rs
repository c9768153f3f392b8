//! Strong components of a directed graph, which make its matrix block triangular: the spectral radius is that of one
//! block.

use crate::base::scalar::Scalar;
use crate::data::samples::Csr;

/// Strong components of the links a_ij ≠ 0: sets of nodes that reach each other.
pub(crate) struct Components {
    /// Nodes, component after component.
    nodes: Vec<usize>,
    /// Where each component starts among the nodes; one more at the end.
    starts: Vec<usize>,
    /// The component of each node and the place of the node in it.
    owners: Vec<(usize, u32)>,
}

/// Mark of a node that was not met.
const UNSEEN: usize = usize::MAX;

impl Components {
    /// The components of a square matrix, by Tarjan's search with a stack of its own, so that long paths do not exhaust
    /// the stack of the thread.
    ///
    /// 1. Meet a node: note when (`met`), and put it among the open nodes.
    /// 2. Follow its links in order. A new node is met first; an open one tells how far back this node reaches (`low`).
    /// 3. When its links are used up and it reaches nothing earlier than itself, the open nodes down to it are a
    ///    component.
    /// 4. Hand `low` on to the node that led here.
    ///
    /// # Cost
    /// O(n + nnz) time, O(n) memory.
    pub(crate) fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let n = a.nrows();
        let mut found = Components { nodes: Vec::with_capacity(n), starts: vec![0], owners: vec![(UNSEEN, 0); n] };
        let mut search = Search { met: vec![UNSEEN; n], low: vec![0; n], open: Vec::new(), clock: 0 };
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..n {
            if search.met[root] != UNSEEN {
                continue;
            }
            search.meet(root);
            path.push((root, 0));
            while let Some((node, next)) = path.pop() {
                let (cols, values) = a.row(node);
                if let Some(at) = (next..cols.len()).find(|&at| values[at] != T::zero()) {
                    path.push((node, at + 1));
                    let target = cols[at] as usize;
                    if search.met[target] == UNSEEN {
                        search.meet(target);
                        path.push((target, 0));
                    } else if found.owners[target].0 == UNSEEN {
                        search.low[node] = search.low[node].min(search.met[target]);
                    }
                    continue;
                }
                if search.low[node] == search.met[node] {
                    found.close(&mut search.open, node);
                }
                if let Some(&(parent, _)) = path.last() {
                    search.low[parent] = search.low[parent].min(search.low[node]);
                }
            }
        }
        found
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The nodes of the k-th.
    pub(crate) fn members(&self, k: usize) -> &[usize] {
        &self.nodes[self.starts[k]..self.starts[k + 1]]
    }

    /// Place of a node among the members of the k-th, if it is one of them.
    pub(crate) fn place_in(&self, k: usize, node: usize) -> Option<u32> {
        let (owner, place) = self.owners[node];
        (owner == k).then_some(place)
    }

    /// Takes the open nodes down to the first one met as a component.
    fn close(&mut self, open: &mut Vec<usize>, first: usize) {
        let number = self.count();
        let mut place = 0;
        while let Some(node) = open.pop() {
            self.owners[node] = (number, place);
            self.nodes.push(node);
            place += 1;
            if node == first {
                break;
            }
        }
        self.starts.push(self.nodes.len());
    }
}

/// What Tarjan's search knows of the nodes.
struct Search {
    /// When each node was met.
    met: Vec<usize>,
    /// The earliest open node that each is known to reach.
    low: Vec<usize>,
    /// Nodes whose component is not complete.
    open: Vec<usize>,
    clock: usize,
}

impl Search {
    /// Step 1: the next tick of the clock, and an open node more.
    fn meet(&mut self, node: usize) {
        self.met[node] = self.clock;
        self.low[node] = self.clock;
        self.open.push(node);
        self.clock += 1;
    }
}
