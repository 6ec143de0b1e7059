//! Requests as they come over the wire: those of the page itself pass, every other kind is an error.

use hingenet_serve::{Limits, Server};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAGE: &str = "<!DOCTYPE html><title>page</title>";
/// Longer than anything here should take, for machines that are busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that answers `slow` after a while, refuses `wrong` and repeats everything else.
struct Running {
    port: u16,
    token: String,
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start() -> Self {
        Self::with(Limits::default(), false)
    }

    fn with(limits: Limits, is_framed: bool) -> Self {
        let mut server = Server::bind(0).unwrap().within(limits);
        if is_framed {
            server = server.framed();
        }
        let token = server.token().to_string();
        let url = server.url();
        let port = url["http://127.0.0.1:".len()..].split('/').next().unwrap().parse().unwrap();
        assert_eq!(url, format!("http://127.0.0.1:{port}/?token={token}"));
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (flag, count) = (stop.clone(), answered.clone());
        let answer = move |question: &str| {
            count.fetch_add(1, Ordering::SeqCst);
            match question {
                "slow" => std::thread::sleep(Duration::from_millis(1500)),
                "wrong" => return Err("a \"quoted\" reason".to_string()),
                _ => {}
            }
            Ok(question.to_string())
        };
        let thread =
            std::thread::spawn(move || server.run(PAGE.into(), answer, || flag.load(Ordering::SeqCst)));
        Running { port, token, answered, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes.
    fn send(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes.as_ref());
        rest(&mut stream)
    }

    /// The head of a right request for the page, with some of its text replaced and headers added.
    fn page(&self, replaced: (&str, &str), more: &str) -> String {
        let head = format!("GET /?token={} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.token, self.port);
        assert!(head.contains(replaced.0), "{head} has no {}", replaced.0);
        self.send(format!("{}{more}\r\n", head.replacen(replaced.0, replaced.1, 1)))
    }

    /// A right question, with some of its text replaced and headers added.
    fn question(&self, body: &str, replaced: (&str, &str), more: &str) -> String {
        let Running { token, port, .. } = self;
        let head = format!(
            "POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
             Sec-Fetch-Site: same-origin\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n",
            body.len()
        );
        assert!(head.contains(replaced.0), "{head} has no {}", replaced.0);
        self.send(format!("{}{more}\r\n{body}", head.replacen(replaced.0, replaced.1, 1)))
    }

    fn ask(&self, body: &str) -> String {
        self.question(body, ("", ""), "")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err(),
            "a stopped server still listens"
        );
    }
}

/// All that comes; a connection that is cut off ends it too.
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut part) {
        bytes.extend(&part[..n]);
    }
    String::from_utf8(bytes).unwrap()
}

fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or("none")
}

fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn the_page_and_its_questions_pass() {
    let server = Running::start();
    let page = server.page(("", ""), "Sec-Fetch-Site: none\r\n");
    assert_eq!((status(&page), body(&page)), ("200", PAGE));
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: connect-src 'self'; ",
        "frame-ancestors 'none'",
        "x-frame-options: DENY",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "connection: close",
    ] {
        assert!(page.contains(header), "no {header} in\n{page}");
    }
    let answer = server.ask(r#"{"a": "ü"}"#);
    assert_eq!((status(&answer), body(&answer)), ("200", r#"{"a": "ü"}"#));
    assert!(answer.contains("content-type: application/json"));
    let named = server.question("1", ("Host: 127.0.0.1", "Host: localhost"), "");
    assert_eq!(status(&named), "200", "the other name of this machine");
    let refused = server.ask("wrong");
    assert_eq!((status(&refused), body(&refused)), ("200", r#"{"error":"a \"quoted\" reason"}"#));
}

/// No wrong request reaches the program behind the page.
#[test]
fn wrong_requests_are_errors() {
    let server = Running::start();
    let (token, port) = (&server.token, server.port);
    let other = format!("{}{}", &token[1..], &token[..1]);
    assert_ne!(*token, other, "a token that repeats itself");
    let big = (8 << 20) + 1;
    let ours = format!("Host: 127.0.0.1:{port}");
    let page = |replaced, more| server.page(replaced, more);
    let ask = |replaced, more| server.question("1", replaced, more);
    let wrong = [
        ("foreign host", "421", page(("127.0.0.1", "evil.example"), "")),
        ("foreign host of a question", "421", ask(("Host: 127.0.0.1", "Host: evil.example"), "")),
        ("another port", "421", page((&format!(":{port}"), ":1"), "")),
        ("no port", "421", page((&format!(":{port}"), ""), "")),
        ("no host", "421", page((&ours, "X: y"), "")),
        ("two hosts", "400", page(("", ""), &format!("{ours}\r\n"))),
        ("absolute form, foreign", "421", page(("GET /", "GET http://evil.example/"), "")),
        ("absolute form", "421", page(("GET /", &format!("GET http://127.0.0.1:{port}/")), "")),
        ("foreign origin", "403", ask(("Origin: http://127.0.0.1", "Origin: http://evil.example"), "")),
        ("origin over tls", "403", ask(("Origin: http:", "Origin: https:"), "")),
        ("null origin", "403", ask((&format!("Origin: http://127.0.0.1:{port}"), "Origin: null"), "")),
        ("two origins", "400", ask(("", ""), "Origin: http://evil.example\r\n")),
        ("another site", "403", ask(("same-origin", "cross-site"), "")),
        ("the same site, another port", "403", ask(("same-origin", "same-site"), "")),
        ("page from another site", "403", page(("", ""), "Sec-Fetch-Site: cross-site\r\n")),
        (
            "page in a frame",
            "403",
            page(("", ""), "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\n"),
        ),
        ("no token", "401", page((&format!("?token={token}"), ""), "")),
        ("empty token", "401", page((token, ""), "")),
        ("wrong token", "401", page((token, &other), "")),
        ("half a token", "401", page((token, &token[..32]), "")),
        ("more than a token", "401", page(("token=", "a=b&token="), "")),
        ("question without token", "401", ask(("Authorization", "X-Authorization"), "")),
        ("question with a wrong token", "401", ask((token, &other), "")),
        ("question with a query", "404", ask(("POST /ask", &format!("POST /ask?token={token}")), "")),
        ("unknown route", "404", page(("GET /", "GET /favicon.ico"), "")),
        ("two slashes", "404", page(("GET /", "GET //"), "")),
        ("dots", "404", page(("GET /", "GET /../"), "")),
        ("dots and a route", "404", ask(("POST /ask", "POST /x/../ask"), "")),
        ("encoded", "404", ask(("POST /ask", "POST /%61sk"), "")),
        ("encoded slash", "404", page(("GET /", "GET /%2f"), "")),
        ("route with a tail", "404", ask(("POST /ask", "POST /ask/"), "")),
        ("asterisk", "404", server.send(format!("OPTIONS * HTTP/1.1\r\n{ours}\r\n\r\n"))),
        ("post of the page", "405", page(("GET", "POST"), "Content-Length: 0\r\n")),
        ("head", "405", page(("GET", "HEAD"), "")),
        ("options, as before a foreign question", "405", ask(("POST", "OPTIONS"), "")),
        ("put", "405", ask(("POST", "PUT"), "")),
        ("get of a question", "405", ask(("POST", "GET"), "")),
        ("connect", "421", page(("GET /", "CONNECT evil.example:80 HTTP/1.1\r\nX: /"), "")),
        ("upgrade", "405", page(("GET", "PRI"), "Upgrade: h2c\r\n")),
        ("form", "415", ask(("application/json", "application/x-www-form-urlencoded"), "")),
        ("plain text, which needs no leave", "415", ask(("application/json", "text/plain"), "")),
        ("no type", "415", ask(("Content-Type", "X-Type"), "")),
        ("two types", "400", ask(("", ""), "Content-Type: text/plain\r\n")),
        ("compressed", "411", ask(("", ""), "Content-Encoding: gzip\r\n")),
        ("too long", "413", ask(("Content-Length: 1", &format!("Content-Length: {big}")), "")),
        (
            "length beyond any number",
            "400",
            ask(("Content-Length: 1", &format!("Content-Length: {big}0000000000000000")), ""),
        ),
        ("negative length", "400", ask(("Content-Length: 1", "Content-Length: -1"), "")),
        ("no length", "411", ask(("Content-Length: 1", "X: y"), "")),
        ("page with a body", "400", page(("", ""), "Content-Length: 1\r\n")),
        ("two lengths", "400", ask(("", ""), "Content-Length: 2\r\n")),
        ("in pieces", "411", ask(("Content-Length: 1", "Transfer-Encoding: chunked"), "")),
        ("length and pieces", "411", ask(("", ""), "Transfer-Encoding: chunked\r\n")),
        ("unknown coding", "400", ask(("", ""), "Transfer-Encoding: gzip\r\n")),
        ("header with a space before its colon", "400", ask(("", ""), "X : y\r\n")),
        ("folded header", "400", ask(("", ""), "X: y\r\n z\r\n")),
        ("huge header", "431", page(("", ""), &format!("X: {}\r\n", "y".repeat(64 << 10)))),
        ("many headers", "431", page(("", ""), &"X: y\r\n".repeat(300))),
        ("long address", "431", page(("token=", &format!("token={}", "y".repeat(32 << 10))), "")),
        ("HTTP/0.9", "400", server.send("GET /\r\n\r\n")),
        ("HTTP/2", "400", server.send("GET / HTTP/2.0\r\n\r\n")),
        ("noise", "400", server.send(b"\x16\x03\x01\x02\x00\x01\xff\xfe\r\n\r\n")),
        ("not UTF-8", "400", {
            let head = "POST /ask HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1\r\n";
            server.send(
                [format!("{head}{ours}\r\nAuthorization: Bearer {token}\r\n\r\n").as_bytes(), b"\xff"]
                    .concat(),
            )
        }),
    ];
    let unexpected: Vec<String> = wrong
        .iter()
        .filter(|(_, expected, response)| status(response) != *expected || body(response).contains(PAGE))
        .map(|(name, expected, response)| format!("{name}: {} instead of {expected}\n", status(response)))
        .collect();
    assert!(unexpected.is_empty(), "{}", unexpected.concat());
    assert_eq!(server.answered.load(Ordering::SeqCst), 0, "a wrong request was answered");
}

/// What follows a request on its connection is never read as another one.
#[test]
fn a_connection_serves_one_request() {
    let server = Running::start();
    let second = format!(
        "POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 6\r\n\r\nhidden",
        server.port, server.token
    );
    let response = server.page(("", ""), &format!("\r\n{second}"));
    assert_eq!(response.matches("HTTP/1.1").count(), 1, "{response}");
    assert_eq!(server.answered.load(Ordering::SeqCst), 0);
}

#[test]
fn slow_senders_are_cut_off() {
    let time = Duration::from_millis(300);
    let server = Running::with(Limits { head: time, body: time, ..Limits::default() }, false);
    let started = Instant::now();
    let mut silent = server.connect();
    assert_eq!(rest(&mut silent), "", "who says nothing hears nothing");
    let mut head = server.connect();
    head.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    assert_eq!(rest(&mut head), "");
    // one byte after the other does not help
    let mut drops = server.connect();
    while drops.write_all(b"x").is_ok() && started.elapsed() < PATIENCE {
        std::thread::sleep(time / 10);
    }
    let body = server.question("", ("Content-Length: 0", "Content-Length: 5"), "");
    assert_eq!(status(&body), "408");
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    assert_eq!(status(&server.ask("1")), "200");
}

/// A reader who takes nothing does not hold its place for ever.
#[test]
fn connections_end() {
    let limits = Limits { connection: Duration::from_millis(300), connections: 1, ..Limits::default() };
    let server = Running::with(limits, false);
    let mut idle = server.connect();
    assert_eq!(rest(&mut idle), "");
    assert_eq!(status(&server.page(("", ""), "")), "200");
}

#[test]
fn connections_are_bounded() {
    let server = Running::with(Limits { connections: 4, ..Limits::default() }, false);
    let held: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    assert_eq!(status(&server.page(("", ""), "")), "503");
    drop(held);
    let started = Instant::now();
    while status(&server.page(("", ""), "")) != "200" {
        assert!(started.elapsed() < PATIENCE, "places are not given back");
    }
}

#[test]
fn a_slow_answer_does_not_hold_the_page() {
    let server = Running::start();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| server.ask("slow"));
        while server.answered.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let page = server.page(("", ""), "");
        assert!(!slow.is_finished(), "the page came after the answer");
        assert_eq!(status(&page), "200");
        assert_eq!(body(&slow.join().unwrap()), "slow");
    });
}

#[test]
fn an_answer_that_takes_too_long_is_an_error_and_its_successor_is_not() {
    let limits = Limits { answer: Duration::from_millis(500), ..Limits::default() };
    let server = Running::with(limits, false);
    assert_eq!(status(&server.ask("slow")), "504");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(status(&server.ask("1")), "200");
}

/// Questions of tabs that have been closed cost nothing.
#[test]
fn a_question_that_nobody_waits_for_is_not_answered() {
    let limits = Limits { answer: Duration::from_millis(500), ..Limits::default() };
    let server = Running::with(limits, false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| server.ask("slow"));
        }
    });
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(status(&server.ask("1")), "200");
    assert_eq!(server.answered.load(Ordering::SeqCst), 2, "the first, and the last");
}

#[test]
fn a_notebook_may_show_the_page_in_a_frame_and_nothing_else() {
    let server = Running::with(Limits::default(), true);
    let page = server.page(("", ""), "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\n");
    assert_eq!(status(&page), "200");
    assert!(page.contains("frame-ancestors http://127.0.0.1:* ") && !page.contains("x-frame-options"));
    assert_eq!(status(&server.page(("", ""), "Sec-Fetch-Site: cross-site\r\n")), "403");
    let question = server.question("1", ("same-origin", "cross-site"), "Sec-Fetch-Dest: iframe\r\n");
    assert_eq!(status(&question), "403");
}

#[test]
fn nothing_listens_beyond_loopback() {
    let server = Running::start();
    // the address that this machine has towards others; no packet is sent to find it
    let outside =
        UdpSocket::bind("0.0.0.0:0").and_then(|s| s.connect("192.0.2.1:9").and_then(|()| s.local_addr()));
    for address in outside.iter().map(SocketAddr::ip).filter(|ip| !ip.is_loopback()) {
        let reached = TcpStream::connect_timeout(&(address, server.port).into(), Duration::from_secs(2));
        assert!(reached.is_err(), "{address} answers");
    }
    // local address and state (0A: listening) of all sockets, in hexadecimal
    let entry =
        |text: &str| text.lines().filter(|l| l.contains(" 0A ")).map(str::to_string).collect::<Vec<_>>();
    let port = format!(":{:04X} ", server.port);
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let Ok(text) = std::fs::read_to_string(table) else { continue };
        for line in entry(&text).iter().filter(|line| line.contains(&port)) {
            assert!(line.contains(&format!(" 0100007F{port}")), "{table}: {line}");
        }
    }
}

#[test]
fn a_port_can_be_asked_for_and_tokens_differ() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let server = Server::bind(free).unwrap();
    assert!(server.url().starts_with(&format!("http://127.0.0.1:{free}/")));
    assert!(Server::bind(free).is_err(), "the port is taken");
    assert_ne!(server.token(), Server::bind(0).unwrap().token());
    assert_eq!(server.token().len(), 64);
}
