//! Who a client says it is.

use async_trait::async_trait;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use http::{StatusCode, Uri};

/// Any error of an [`Authorization`].
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Authorizes the requests of a client, and hears when that was not enough.
///
/// Implement it to get tokens from somewhere; [`HttpTransport::bearer`] is for one that is known.
///
/// ```
/// use mcp_transport_http::{Authorization, BoxError, Refused, async_trait, bearer};
/// # struct Tokens;
/// # impl Tokens {
/// #     async fn current(&self) -> Option<String> { None }
/// #     async fn renew(&self, _challenges: &[String]) -> Result<(), BoxError> { Ok(()) }
/// # }
///
/// #[async_trait]
/// impl Authorization for Tokens {
///     async fn authorize(&self, request: &mut http::request::Parts) -> Result<(), BoxError> {
///         if let Some(token) = self.current().await {
///             request.headers.insert(http::header::AUTHORIZATION, bearer(&token)?);
///         }
///         Ok(())
///     }
///
///     async fn refused(&self, refused: Refused) -> Result<(), BoxError> {
///         self.renew(&refused.challenges).await
///     }
/// }
/// ```
///
/// Spec: [authorization](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization).
///
/// [`HttpTransport::bearer`]: crate::HttpTransport::bearer
#[async_trait]
pub trait Authorization: Send + Sync + 'static {
    /// Adds to a request what authorizes it, most often the header `Authorization`.
    ///
    /// # Errors
    ///
    /// The request is not sent, and has no answer for this reason.
    async fn authorize(&self, request: &mut Parts) -> Result<(), BoxError>;

    /// The server has refused a request with 401, or with 403 and a challenge. When this returns, it
    /// is authorized and sent once more.
    ///
    /// Called once for each refused request, from many at a time.
    ///
    /// # Errors
    ///
    /// The request has no answer for this reason.
    async fn refused(&self, refused: Refused) -> Result<(), BoxError>;
}

/// How a server has refused a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// 401 or 403.
    pub status: StatusCode,
    /// The values of `WWW-Authenticate`: what would be enough, and where it is to be had.
    pub challenges: Vec<String>,
    /// What was requested.
    pub url: Uri,
}

impl Refused {
    /// As the caller is told.
    pub(super) fn text(&self) -> String {
        let challenges = self.challenges.join(", ");
        let colon = if challenges.is_empty() { "" } else { ": " };
        format!("the server answered {}{colon}{challenges}", self.status)
    }
}

/// The value of `Authorization` for a bearer token.
///
/// # Errors
///
/// When the token has characters that no header may have.
pub fn bearer(token: &str) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Always the same value, or none.
pub(super) struct Fixed(pub(super) Option<HeaderValue>);

#[async_trait]
impl Authorization for Fixed {
    async fn authorize(&self, request: &mut Parts) -> Result<(), BoxError> {
        if let Some(value) = &self.0 {
            request.headers.insert(AUTHORIZATION, value.clone());
        }
        Ok(())
    }

    async fn refused(&self, refused: Refused) -> Result<(), BoxError> {
        Err(refused.text().into())
    }
}
