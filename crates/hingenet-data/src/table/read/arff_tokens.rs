//! Words of an ARFF line: names and values, quoted with `'` or `"` where they hold spaces or commas. The
//! errors are the problem alone; the caller knows file and line.

type Result<T> = std::result::Result<T, &'static str>;

/// A name or a value.
#[derive(Clone, Default)]
pub(super) struct Token {
    /// The text without its quotes.
    pub(super) text: Vec<u8>,
    /// Whether it stood in quotes.
    pub(super) quoted: bool,
}

/// The cells of a dense row: separated by commas, or by spaces if there is no comma.
pub(super) fn split_row(text: &[u8], n_columns: usize, cells: &mut Vec<Token>) -> Result<()> {
    cells.clear();
    let mut tokens = Tokens::new(text);
    if n_columns > 1 && !tokens.has_comma() {
        while let Some(token) = tokens.token(b"")? {
            cells.push(token);
        }
        return Ok(());
    }
    loop {
        cells.push(tokens.cell(b",")?);
        match tokens.next_byte() {
            Some(b',') => {}
            _ => return Ok(()),
        }
    }
}

/// Walks along one line.
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    /// Bytes consumed.
    pub(super) pos: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Tokens { text, pos: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    pub(super) fn next_byte(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.pos += usize::from(byte.is_some());
        byte
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.pos += 1;
        }
    }

    /// Whether a comma stands outside quotes.
    fn has_comma(&self) -> bool {
        let mut quote = None;
        let mut escaped = false;
        for &byte in self.text {
            match quote {
                _ if escaped => escaped = false,
                Some(q) if byte == q => quote = None,
                Some(_) => escaped = byte == b'\\',
                None if byte == b',' => return true,
                None if byte == b'\'' || byte == b'"' => quote = Some(byte),
                None => {}
            }
        }
        false
    }

    /// The next word, quoted or up to a space or one of `stops`; `None` at the end or at a comment.
    pub(super) fn token(&mut self, stops: &[u8]) -> Result<Option<Token>> {
        self.skip_spaces();
        match self.peek() {
            None | Some(b'%') => Ok(None),
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote).map(Some),
            Some(_) => {
                let start = self.pos;
                while self.peek().is_some_and(|b| !b.is_ascii_whitespace() && !stops.contains(&b)) {
                    self.pos += 1;
                }
                Ok(Some(Token { text: self.text[start..self.pos].to_vec(), quoted: false }))
            }
        }
    }

    /// The text up to one of `stops`, spaces around it left out; a comment ends it too.
    pub(super) fn cell(&mut self, stops: &[u8]) -> Result<Token> {
        self.skip_spaces();
        if let Some(quote @ (b'\'' | b'"')) = self.peek() {
            let token = self.quoted(quote)?;
            self.skip_spaces();
            return match self.peek() {
                None | Some(b'%') => Ok(token),
                Some(byte) if stops.contains(&byte) => Ok(token),
                Some(_) => Err("there is text after a closing quote"),
            };
        }
        let start = self.pos;
        while let Some(byte) = self.peek() {
            let comment =
                byte == b'%' && (self.pos == start || self.text[self.pos - 1].is_ascii_whitespace());
            if stops.contains(&byte) || comment {
                break;
            }
            self.pos += 1;
        }
        Ok(Token { text: self.text[start..self.pos].trim_ascii().to_vec(), quoted: false })
    }

    /// A quoted text; a backslash keeps the character after it.
    fn quoted(&mut self, quote: u8) -> Result<Token> {
        self.pos += 1;
        let mut text = Vec::new();
        loop {
            match self.next_byte() {
                None => return Err("a quote is opened and never closed"),
                Some(b'\\') => text.extend(self.next_byte().map(unescape)),
                Some(byte) if byte == quote => return Ok(Token { text, quoted: true }),
                Some(byte) => text.push(byte),
            }
        }
    }

    /// `index value`.
    pub(super) fn sparse_entry(&mut self) -> Result<(usize, Token)> {
        let index = self.token(b",}")?.unwrap_or_default();
        let index = std::str::from_utf8(&index.text).ok().and_then(|text| text.parse().ok());
        let index = index.ok_or("an index of the sparse row is not a whole number")?;
        let value = self.cell(b",}")?;
        if value.text.is_empty() && !value.quoted {
            return Err("an index of the sparse row has no value");
        }
        Ok((index, value))
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        other => other,
    }
}
