//! One HTTP exchange with the server: authorized, redirected, and no more.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use http::{Method as Verb, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use mcp_protocol::transport::NoAnswer;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use super::authorization::{Authorization, Refused};
use crate::headers::{EVENTS, essence};

/// Where the server is, and how it is spoken to.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: Uri,
    /// Headers of every request.
    pub(super) headers: HeaderMap,
    pub(super) authorization: Arc<dyn Authorization>,
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Endpoint {
    pub(super) fn new(url: Uri, authorization: Arc<dyn Authorization>) -> io::Result<Self> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(&url)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Ok(Self {
            url,
            headers: HeaderMap::new(),
            authorization,
            http,
        })
    }

    /// Makes a request and gives its response, whatever it is. Dropping this, or the body,
    /// closes the connection that carries it.
    pub(super) async fn exchange(
        &self,
        verb: Verb,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let mut url = self.url.clone();
        let (mut refusals, mut redirects) = (0, 0);
        loop {
            let request = self.request(&verb, &url, &headers, &body).await?;
            let response = self.http.request(request).await;
            let response = response.map_err(|error| unreachable(&error))?;
            let status = response.status();
            let challenged = response.headers().contains_key(WWW_AUTHENTICATE);
            if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN && challenged {
                let refused = refused(&response, &url);
                if refusals > 0 {
                    return Err(NoAnswer::Unauthorized(refused.text()));
                }
                refusals += 1;
                let again = self.authorization.refused(refused).await;
                again.map_err(|error| NoAnswer::Unauthorized(error.to_string()))?;
            } else if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
                redirects += 1;
                url = redirected(&response, &url, redirects)?;
            } else {
                return Ok(response);
            }
        }
    }

    async fn request(
        &self,
        verb: &Verb,
        url: &Uri,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Request<Full<Bytes>>, NoAnswer> {
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = verb.clone();
        parts.uri = url.clone();
        parts.headers = self.headers.clone();
        parts.headers.extend(headers.clone());
        let authorized = self.authorization.authorize(&mut parts).await;
        authorized.map_err(|error| NoAnswer::Unauthorized(error.to_string()))?;
        Ok(Request::from_parts(parts, Full::new(body.clone())))
    }
}

/// How long a connection to the server may take.
const CONNECT: Duration = Duration::from_secs(30);

/// How long a connection is kept for the next request. Many servers close theirs after 5 s,
/// and a POST that meets the end of one cannot safely be made again.
const IDLE: Duration = Duration::from_secs(4);

/// How often a request may be sent on.
const REDIRECTS: usize = 5;

/// Trusts whom this machine trusts, if there is anybody to be trusted.
fn tls(url: &Uri) -> io::Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = match url.scheme_str() {
        Some("https") => config.with_native_roots()?,
        _ => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

fn refused(response: &Response<Incoming>, url: &Uri) -> Refused {
    let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
    Refused {
        status: response.status(),
        challenges: challenges
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect(),
        url: url.clone(),
    }
}

/// Where a request is to be sent instead, if that is at the same server: what it says and who
/// authorizes it is for no other. Only of the redirections that leave it a POST.
fn redirected(response: &Response<Incoming>, url: &Uri, redirects: usize) -> Result<Uri, NoAnswer> {
    let status = response.status();
    let location = response.headers().get(LOCATION).map(HeaderValue::as_bytes);
    let location = String::from_utf8_lossy(location.unwrap_or_default());
    let mut parts = url.clone().into_parts();
    let target = if location.starts_with('/') && !location.starts_with("//") {
        parts.path_and_query = location.parse().ok();
        Uri::from_parts(parts).ok()
    } else {
        location.parse().ok()
    };
    let keeps =
        status == StatusCode::TEMPORARY_REDIRECT || status == StatusCode::PERMANENT_REDIRECT;
    let origin = |url: &Uri| (url.scheme().cloned(), url.authority().cloned());
    match target.filter(|target| origin(target) == origin(url)) {
        Some(target) if keeps && redirects <= REDIRECTS => Ok(target),
        _ => Err(NoAnswer::Unusable(format!(
            "the server answered {status}, and `{location}` is not followed"
        ))),
    }
}

/// Whether a response is a stream of events.
pub(super) fn is_events<B>(response: &Response<B>) -> bool {
    response.status().is_success() && kind(response).eq_ignore_ascii_case(EVENTS)
}

fn kind<B>(response: &Response<B>) -> &str {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok()).map_or("", essence)
}

/// Reads a response whose body is no longer than `most` bytes.
pub(super) async fn whole(
    response: Response<Incoming>,
    most: usize,
) -> Result<Response<Bytes>, NoAnswer> {
    let (head, body) = response.into_parts();
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(Response::from_parts(head, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(NoAnswer::Unusable(format!(
            "the server sent more than {most} bytes in one answer"
        ))),
        Err(error) => Err(unreachable(&*error)),
    }
}

/// Why a response is no answer.
pub(super) fn unusable(response: &Response<Bytes>) -> NoAnswer {
    let body = response.body();
    let body = body.chunks(SHOWN).next().unwrap_or_default();
    let body = String::from_utf8_lossy(body);
    let body = body.trim().escape_debug().to_string();
    let mut text = format!("the server answered {}", response.status());
    for part in [kind(response), &body] {
        if !part.is_empty() {
            text = format!("{text}: {part}");
        }
    }
    NoAnswer::Unusable(text)
}

/// Bytes of a body in a message.
const SHOWN: usize = 200;

/// What was wrong on the way, from what was tried to what has failed.
pub(super) fn unreachable(error: &(dyn Error + 'static)) -> NoAnswer {
    let mut text = error.to_string();
    let mut error = error.source();
    while let Some(source) = error {
        text = format!("{text}: {source}");
        error = source.source();
    }
    NoAnswer::Unreachable(text)
}
