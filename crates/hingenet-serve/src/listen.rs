//! The thread that listens: connections, each with one request, which the guard admits or refuses.

use crate::Limits;
use crate::guard::{Guard, Refusal, Route};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// What a page asks, and the way back to it.
pub struct Question {
    pub text: String,
    pub reply: oneshot::Sender<String>,
}

/// What all connections share.
pub struct Shared {
    pub guard: Guard,
    pub limits: Limits,
    pub page: Bytes,
    pub asked: mpsc::Sender<Question>,
}

/// Who comes when all places are taken hears this.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// After a connection that could not be taken, for want of file handles for example.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the other end of `stopped` is gone; what is under way then is cut off.
pub fn listen(
    listener: std::net::TcpListener,
    shared: Shared,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        tokio::spawn(accept(TcpListener::from_std(listener)?, Arc::new(shared)));
        // an error says that the sender is gone: that is the signal
        let _ = stopped.await;
        Ok(())
    })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    // a connection that fails or takes too long is closed, and that is all
                    let _ = timeout(shared.limits.connection, converse(stream, &shared)).await;
                    drop(place);
                });
            }
            // it is closed in any case
            Err(_) => drop(stream.into_std().and_then(|mut stream| stream.write_all(BUSY))),
        }
    }
}

/// One request and its response.
async fn converse(stream: TcpStream, shared: &Shared) -> hyper::Result<()> {
    http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(shared.limits.head_bytes)
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head)
        .serve_connection(TokioIo::new(stream), service_fn(|request| respond(request, shared)))
        .await
}

async fn respond(request: Request<Incoming>, shared: &Shared) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let content = match shared.guard.admit(&head) {
        Ok(Route::Page) => Ok(("text/html; charset=utf-8", shared.page.clone())),
        Ok(Route::Ask) => ask(body, shared).await.map(|answer| ("application/json", answer.into())),
        Err(refusal) => Err(refusal),
    };
    let (status, (kind, bytes)) = match content {
        Ok(content) => (StatusCode::OK, content),
        Err((status, text)) => (status, ("text/plain; charset=utf-8", Bytes::from_static(text.as_bytes()))),
    };
    let mut response = Response::new(Full::new(bytes));
    *response.status_mut() = status;
    for (name, value) in headers(kind, shared.guard.is_framed) {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Hands a question to the thread that answers.
async fn ask(body: Incoming, shared: &Shared) -> Result<String, Refusal> {
    const SLOW: Refusal = (StatusCode::REQUEST_TIMEOUT, "the question took too long to arrive");
    const BROKEN: Refusal = (StatusCode::BAD_REQUEST, "the question is not whole, or not UTF-8");
    const LONG: Refusal = (StatusCode::GATEWAY_TIMEOUT, "the answer takes too long");
    const ENDED: Refusal = (StatusCode::SERVICE_UNAVAILABLE, "the program is ending");
    let body = timeout(shared.limits.body, body.collect()).await.map_err(|_| SLOW)?.map_err(|_| BROKEN)?;
    let text = String::from_utf8(body.to_bytes().into()).map_err(|_| BROKEN)?;
    let (reply, answer) = oneshot::channel();
    shared.asked.send(Question { text, reply }).map_err(|_| ENDED)?;
    timeout(shared.limits.answer, answer).await.map_err(|_| LONG)?.map_err(|_| ENDED)
}

/// Headers of every response. Scripts and styles are the page's own business: it names their hashes in a policy of its own,
/// and both policies hold.
fn headers(kind: &'static str, is_framed: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let policy = if is_framed {
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors http://127.0.0.1:* http://localhost:* vscode-webview:"
    } else {
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    };
    let always = [
        ("content-type", kind),
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    always.into_iter().chain((!is_framed).then_some(("x-frame-options", "DENY")))
}
