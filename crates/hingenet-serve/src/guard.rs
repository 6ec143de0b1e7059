//! The guard before all routes: who may ask for what. Each rule refuses a way of reaching the server other than from the
//! page that it has handed out itself.

use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN,
    TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use subtle::ConstantTimeEq;

/// What there is.
#[derive(Debug, PartialEq)]
pub enum Route {
    /// `GET /?token=TOKEN`
    Page,
    /// `POST /ask`
    Ask,
}

/// Why a request is refused.
pub type Refusal = (StatusCode, &'static str);

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What a request has to know.
#[derive(Debug)]
pub struct Guard {
    /// `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
    token: String,
    /// Whether other programs of this machine may show the page in a frame.
    pub is_framed: bool,
    max_body: usize,
}

impl Guard {
    /// A guard of this port and token.
    pub fn new(port: u16, token: String, is_framed: bool, max_body: usize) -> Self {
        Guard {
            hosts: ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")),
            token,
            is_framed,
            max_body,
        }
    }

    /// What the request asks for, if it may.
    pub fn admit(&self, head: &Parts) -> Result<Route, Refusal> {
        self.check_host(head)?;
        let route = route(head)?;
        self.check_site(head, &route)?;
        self.check_token(head, &route)?;
        self.check_body(head, &route)?;
        Ok(route)
    }

    /// A name that someone lets point to 127.0.0.1 (DNS rebinding) is not ours, nor is a request meant for a proxy.
    fn check_host(&self, head: &Parts) -> Result<(), Refusal> {
        let is_ours = only(head, HOST)?.is_some_and(|host| self.is_ours(host));
        refuse_unless(
            is_ours && head.uri.authority().is_none(),
            StatusCode::MISDIRECTED_REQUEST,
            "this is another host",
        )
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours == host)
    }

    /// Browsers say which page asks: it must be ours, or the address bar. A notebook may show the page in a frame.
    fn check_site(&self, head: &Parts, route: &Route) -> Result<(), Refusal> {
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host));
        let from_frame =
            self.is_framed && *route == Route::Page && only(head, SEC_FETCH_DEST)? == Some("iframe");
        let from_here = only(head, SEC_FETCH_SITE)?
            .is_none_or(|site| matches!(site, "same-origin" | "none") || from_frame);
        let refused = "this page may not ask; open the address that hingenet has printed";
        refuse_unless(from_here && only(head, ORIGIN)?.is_none_or(is_ours), StatusCode::FORBIDDEN, refused)
    }

    fn check_token(&self, head: &Parts, route: &Route) -> Result<(), Refusal> {
        let token = match route {
            Route::Page => head.uri.query().and_then(|query| query.strip_prefix("token=")),
            Route::Ask => only(head, AUTHORIZATION)?.and_then(|value| value.strip_prefix("Bearer ")),
        };
        let is_ours = token.is_some_and(|token| token.as_bytes().ct_eq(self.token.as_bytes()).into());
        refuse_unless(
            is_ours,
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong; open the address that hingenet has printed",
        )
    }

    /// JSON of a declared and bounded length; a page is asked for without a body. Browsers always tell the length, so
    /// nothing that is sent in pieces is read.
    fn check_body(&self, head: &Parts, route: &Route) -> Result<(), Refusal> {
        let coded =
            head.headers.contains_key(TRANSFER_ENCODING) || head.headers.contains_key(CONTENT_ENCODING);
        refuse_unless(!coded, StatusCode::LENGTH_REQUIRED, "send the body as it is, with its length")?;
        let length = only(head, CONTENT_LENGTH)?.map(str::parse::<usize>);
        match (route, length) {
            (Route::Page, None | Some(Ok(0))) => Ok(()),
            (Route::Page, _) => Err((StatusCode::BAD_REQUEST, "nothing is to be sent here")),
            (Route::Ask, Some(Ok(length))) => {
                refuse_unless(
                    length <= self.max_body,
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the question is too long",
                )?;
                let is_json = only(head, CONTENT_TYPE)? == Some("application/json");
                refuse_unless(is_json, StatusCode::UNSUPPORTED_MEDIA_TYPE, "questions are application/json")
            }
            (Route::Ask, _) => Err((StatusCode::LENGTH_REQUIRED, "the length is missing")),
        }
    }
}

/// Paths are compared as they are: no escapes, no dots, no second slash.
fn route(head: &Parts) -> Result<Route, Refusal> {
    let (route, method) = match (head.uri.path(), head.uri.query()) {
        ("/", _) => (Route::Page, Method::GET),
        ("/ask", None) => (Route::Ask, Method::POST),
        _ => return Err((StatusCode::NOT_FOUND, "there is nothing here")),
    };
    refuse_unless(head.method == method, StatusCode::METHOD_NOT_ALLOWED, "not by this method").map(|()| route)
}

/// The value of a header that must not be there twice.
fn only(head: &Parts, name: HeaderName) -> Result<Option<&str>, Refusal> {
    const UNCLEAR: Refusal = (StatusCode::BAD_REQUEST, "a header is there twice or is not text");
    let mut values = head.headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str().map_err(|_| UNCLEAR)).transpose()?;
    if values.next().is_some() { Err(UNCLEAR) } else { Ok(value) }
}

fn refuse_unless(holds: bool, status: StatusCode, text: &'static str) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err((status, text)) }
}
