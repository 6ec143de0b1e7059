//! Class scores of some rows that have the same class, class by class: the losses of such a block are worked out in vectors.

/// A line of scores for each class, one column a row; after the loss derivatives of the rows that have one.
#[derive(Debug, Clone)]
pub struct ScoreBlock {
    lines: Vec<[f64; ScoreBlock::ROWS]>,
    /// Row of each of the first `len` columns.
    rows: [u8; ScoreBlock::ROWS],
    len: usize,
}

impl ScoreBlock {
    /// Most rows of a block.
    pub const ROWS: usize = 64;

    /// An empty block.
    pub fn new(n_classes: usize) -> Self {
        ScoreBlock { lines: vec![[0.0; Self::ROWS]; n_classes], rows: [0; Self::ROWS], len: 0 }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.lines.len()
    }

    /// Rows of the first columns.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows[..self.len].iter().map(|&r| usize::from(r))
    }

    /// Values of one class.
    #[inline(always)]
    pub fn line(&mut self, class: usize) -> &mut [f64; Self::ROWS] {
        &mut self.lines[class]
    }

    /// Values of one column.
    #[inline(always)]
    pub fn read(&self, column: usize, values: &mut [f64]) {
        debug_assert!(column < Self::ROWS);
        values.iter_mut().zip(&self.lines).for_each(|(x, line)| *x = line[column]);
    }

    /// Values of one column of K classes.
    #[inline(always)]
    pub fn column<const K: usize>(&self, column: usize) -> [f64; K] {
        debug_assert!(column < Self::ROWS);
        std::array::from_fn(|c| self.lines[c][column])
    }

    /// Sets one column.
    #[inline(always)]
    pub fn write(&mut self, column: usize, values: &[f64]) {
        debug_assert!(column < Self::ROWS);
        values.iter().zip(&mut self.lines).for_each(|(x, line)| line[column] = *x);
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
        self.lines.iter_mut().for_each(|line| pack(&self.rows[..self.len], line));
    }
}

#[inline(always)]
fn pack(rows: &[u8], line: &mut [f64; ScoreBlock::ROWS]) {
    for (i, &r) in rows.iter().enumerate() {
        line[i] = line[usize::from(r) % ScoreBlock::ROWS];
    }
}
