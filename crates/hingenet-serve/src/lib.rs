//! A page on this machine with a program behind it. [`Server`] listens on the loopback interface alone, hands out one page
//! and passes questions of that page to a function; it knows nothing of models and writes nothing.
//!
//! Every request stands before one guard (`guard`): Host, Origin, site, route, method, token, type and size. Time, number of
//! connections and sizes are bounded by [`Limits`], and a connection serves one request, so nothing can hide behind another.
//!
//! ```no_run
//! let server = hingenet_serve::Server::bind(0)?;
//! println!("{}", server.url());
//! let page = format!("<title>ask with {}</title>", server.token());
//! server.run(page, |question| Ok(format!("{}", question.len())), || false)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod guard;
mod listen;

use guard::Guard;
use listen::{Question, Shared};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How often a server that nobody asks looks whether it should stop.
const TICK: Duration = Duration::from_millis(100);
/// Random bytes of a token.
const TOKEN: usize = 32;

/// What a server bears from the other side.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Until the head of a request is there.
    pub head: Duration,
    /// Until its body is there.
    pub body: Duration,
    /// Until the answer is there, those waited for included.
    pub answer: Duration,
    /// From the first to the last byte of a connection.
    pub connection: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of a head.
    pub head_bytes: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Limits {
            head: seconds(5),
            body: seconds(10),
            answer: seconds(60),
            connection: seconds(120),
            connections: 32,
            head_bytes: 16 << 10,
            body_bytes: 8 << 20,
        }
    }
}

/// A server that has an address, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
    limits: Limits,
    is_framed: bool,
}

impl Server {
    /// Takes a port of 127.0.0.1, any free one if it is 0, and a token from the randomness of the system.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let mut bytes = [0; TOKEN];
        getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Server { listener, port, token, limits: Limits::default(), is_framed: false })
    }

    /// The same with other limits.
    pub fn within(self, limits: Limits) -> Self {
        Server { limits, ..self }
    }

    /// Lets pages of programs on this machine, such as notebooks, show the page in a frame.
    pub fn framed(self) -> Self {
        Server { is_framed: true, ..self }
    }

    /// What the page has to send with its questions, as `Authorization: Bearer TOKEN`.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Serves until `is_stopped`, or until there is no more listening. Questions are answered one after the other in the
    /// calling thread, so that `answer` may borrow and may use the threads that the caller belongs to; the page and all
    /// that is refused come from a thread of their own and never wait for an answer.
    ///
    /// An answer is JSON. An error is one too: `{"error": "text"}`.
    pub fn run(
        self,
        page: String,
        answer: impl Fn(&str) -> Result<String, String>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<()> {
        let (asked, questions) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        self.listener.set_nonblocking(true)?;
        let guard = Guard::new(self.port, self.token, self.is_framed, self.limits.body_bytes);
        let shared = Shared { guard, limits: self.limits, page: page.into(), asked };
        let listening = std::thread::Builder::new()
            .name("hingenet-serve".into())
            .spawn(move || listen::listen(self.listener, shared, stopped))?;
        while !is_stopped() {
            match questions.recv_timeout(TICK) {
                Ok(question) => settle(question, &answer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        drop(stop);
        listening.join().map_err(|_| io::Error::other("the thread of the server has failed"))?
    }
}

/// Answers a question, unless whoever asked has gone.
fn settle(question: Question, answer: impl Fn(&str) -> Result<String, String>) {
    if question.reply.is_closed() {
        return;
    }
    let said = answer(&question.text);
    // gone meanwhile: nobody misses the answer
    let _ =
        question.reply.send(said.unwrap_or_else(|error| serde_json::json!({ "error": error }).to_string()));
}
