//! Class scores of some rows that have the same class, class by class: the losses of such a block are worked out in vectors.

/// A line of scores for each class, one column a row; after the loss derivatives of the rows that have one.
#[derive(Debug, Clone)]
pub struct ScoreBlock {
    n_classes: usize,
    cells: Vec<f64>,
    /// Row of each of the first `len` columns.
    rows: [u8; ScoreBlock::ROWS],
    len: usize,
}

impl ScoreBlock {
    /// Most rows of a block.
    pub const ROWS: usize = 64;

    /// An empty block.
    pub fn new(n_classes: usize) -> Self {
        ScoreBlock { n_classes, cells: vec![0.0; n_classes * Self::ROWS], rows: [0; Self::ROWS], len: 0 }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Rows of the first columns.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows[..self.len].iter().map(|&r| usize::from(r))
    }

    /// Values of one class.
    #[inline(always)]
    pub fn line(&mut self, class: usize) -> &mut [f64; Self::ROWS] {
        let start = class * Self::ROWS;
        self.cells[start..].first_chunk_mut().expect("a line for each class")
    }

    /// Values of one column.
    #[inline(always)]
    pub fn read(&self, column: usize, values: &mut [f64]) {
        debug_assert!(column < Self::ROWS);
        values.iter_mut().enumerate().for_each(|(c, x)| *x = self.cells[c * Self::ROWS + column]);
    }

    /// Values of one column of K classes.
    #[inline(always)]
    pub fn column<const K: usize>(&self, column: usize) -> [f64; K] {
        debug_assert!(column < Self::ROWS);
        std::array::from_fn(|c| self.cells[c * Self::ROWS + column])
    }

    /// Sets one column.
    #[inline(always)]
    pub fn write(&mut self, column: usize, values: &[f64]) {
        debug_assert!(column < Self::ROWS);
        values.iter().enumerate().for_each(|(c, x)| self.cells[c * Self::ROWS + column] = *x);
    }

    /// Marks all of the first `n` rows as kept.
    pub fn keep_all(&mut self, n: usize) {
        self.keep(n, |_| true);
    }

    /// Marks those of the first `n` rows that are wanted, without a branch for each; returns their number.
    #[inline(always)]
    pub fn keep(&mut self, n: usize, wanted: impl Fn(usize) -> bool) -> usize {
        debug_assert!(n <= Self::ROWS);
        self.len = 0;
        for r in 0..n {
            self.rows[self.len] = r as u8;
            self.len += usize::from(wanted(r));
        }
        self.len
    }

    /// Moves the values of the marked rows to the first columns of a line.
    #[inline(always)]
    pub fn pack(&self, line: &mut [f64; Self::ROWS]) {
        pack(&self.rows[..self.len], line);
    }

    /// Moves the marked rows to the first columns.
    #[inline(always)]
    pub fn pack_all(&mut self) {
        let rows = self.rows;
        let len = self.len;
        (0..self.n_classes).for_each(|c| pack(&rows[..len], self.line(c)));
    }
}

#[inline(always)]
fn pack(rows: &[u8], line: &mut [f64; ScoreBlock::ROWS]) {
    for (i, &r) in rows.iter().enumerate() {
        line[i] = line[usize::from(r) % ScoreBlock::ROWS];
    }
}
