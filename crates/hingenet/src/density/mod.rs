//! Sparse pairwise log-density classifiers: SLB and its relatives (Tenzer et al., JMLR 2020).
