//! The files of a directory.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_protocol::ErrorObject;
use mcp_protocol::types::{
    BlobResourceContents, ResourceContents, ResourceTemplate, TextResourceContents,
};

use super::template::Variables;
use super::{Template, base64, below};
use crate::blocking;
use crate::context::Context;
use crate::error::ToolError;

/// The files of a directory and of those below it, hidden ones as well.
///
/// A file is text if it is UTF-8, and its media type is told by the end of its name. What is
/// not a plain file, is too large or lies outside is not given, whatever path is asked for and
/// wherever symbolic links lead, also if they are changed meanwhile. A file is read anew each time, on a thread that nobody else
/// waits for. It does not list the files.
///
/// ```
/// use mcp_server::{Directory, Server};
///
/// let notes = Directory::new("notes:///", "/var/lib/notes")
///     .describe(|notes| notes.title("My notes"))
///     .max_file_bytes(1 << 20);
/// let server = Server::new("notes", "1.0.0").directory(notes);
/// # server.build()?;
/// # Ok::<(), mcp_server::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Directory {
    definition: ResourceTemplate,
    files: Arc<Files>,
}

#[derive(Clone, Debug)]
struct Files {
    root: PathBuf,
    max_bytes: u64,
}

/// The variable of the template.
const PATH: &str = "path";

impl Directory {
    /// The files of the directory `root`, at URIs that begin with `prefix`: `notes:///` gives
    /// them as `notes:///a/b.txt`. A slash is added to a prefix that does not end with one.
    #[must_use]
    pub fn new(prefix: impl Into<String>, root: impl Into<PathBuf>) -> Self {
        let (mut prefix, root) = (prefix.into(), root.into());
        if !prefix.ends_with('/') {
            prefix.push('/');
        }
        let name = root.file_name().unwrap_or(root.as_os_str());
        let name = name.to_string_lossy().into_owned();
        Self {
            definition: ResourceTemplate::new(format!("{prefix}{{+{PATH}}}"), name),
            files: Arc::new(Files {
                root,
                max_bytes: 16 << 20,
            }),
        }
    }

    /// More about it than its template: another name, a title, a description.
    #[must_use]
    pub fn describe(mut self, describe: impl FnOnce(ResourceTemplate) -> ResourceTemplate) -> Self {
        self.definition = describe(self.definition);
        self
    }

    /// The largest file that is given, in bytes. Default 16 MiB. Stops one reply from taking
    /// memory without bound.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        Arc::make_mut(&mut self.files).max_bytes = bytes;
        self
    }
}

#[async_trait]
impl<S: Send + Sync + 'static> Template<S> for Directory {
    fn definition(&self) -> ResourceTemplate {
        self.definition.clone()
    }

    async fn read(
        &self,
        uri: &str,
        variables: &Variables,
        cx: Context<S>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        let Some(path) = variables.get(PATH).and_then(below) else {
            return Ok(None);
        };
        let (uri, files) = (uri.to_owned(), self.files.clone());
        blocking::run(cx, move |_| {
            let read = files.read(&path)?;
            Ok(read.map(|bytes| vec![contents(uri, &path, bytes)]))
        })
        .await
    }
}

impl Files {
    /// The bytes of a file, if there is such a file.
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, ToolError> {
        let limit = self.max_bytes;
        let mut bytes = Vec::new();
        let read = below::open(&self.root, path).and_then(|file| {
            let Some(file) = file else { return Ok(None) };
            let mut file = file.take(limit.saturating_add(1));
            file.read_to_end(&mut bytes).map(Some)
        });
        match read {
            Ok(None) => Ok(None),
            Ok(Some(_)) if bytes.len() as u64 > limit => {
                let error = format!("the file is larger than {limit} bytes");
                Err(ToolError::refused(ErrorObject::internal(error)))
            }
            Ok(Some(_)) => Ok(Some(bytes)),
            Err(error) => {
                tracing::warn!(%error, "a file of a directory cannot be read");
                let error = ErrorObject::internal("the file cannot be read");
                Err(ToolError::refused(error))
            }
        }
    }
}

/// A path that a client gave, if it leads nowhere but down on any system.
fn below(path: &str) -> Option<PathBuf> {
    let leads_elsewhere = |name: &str| {
        matches!(name, "" | "." | "..")
            || name.contains(['\\', '\0'])
            // On Windows it is a drive, or a stream beside the file's contents.
            || cfg!(windows) && name.contains(':')
    };
    (!path.split('/').any(leads_elsewhere)).then(|| path.into())
}

fn contents(uri: String, path: &Path, bytes: Vec<u8>) -> ResourceContents {
    let known = media_type(path);
    match String::from_utf8(bytes) {
        Ok(text) => TextResourceContents::new(uri, text)
            .mime_type(known.unwrap_or("text/plain"))
            .into(),
        Err(error) => BlobResourceContents::new(uri, base64(error.as_bytes()))
            .mime_type(known.unwrap_or("application/octet-stream"))
            .into(),
    }
}

/// What the end of a file's name says about its contents, for what models are often given.
fn media_type(path: &Path) -> Option<&'static str> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &*end {
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "mp3" => "audio/mpeg",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "webp" => "image/webp",
        "xml" => "application/xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Covers RS04.
    #[test]
    fn only_paths_that_lead_down_are_taken() {
        for path in ["a", "a/b.txt", ".hidden", "...", "%2e%2e/a", "a b", "é"] {
            assert_eq!(below(path), Some(path.into()), "{path}");
        }
        for path in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "../a",
            "a/..",
            "a/../b",
            "a/./b",
            "a\\b",
            "..\\a",
            "a\0",
            "\\\\host\\a",
        ] {
            assert_eq!(below(path), None, "{path}");
        }
        assert_eq!(below("c:").is_none(), cfg!(windows));
    }

    #[test]
    fn contents_are_text_if_they_are_utf_8() {
        let text = contents("u".into(), Path::new("a"), b"\xc3\xa9".to_vec());
        let expected = TextResourceContents::new("u", "é").mime_type("text/plain");
        assert_eq!(text, expected.into());
        let blob = contents("u".into(), Path::new("a.PNG"), b"\xff".to_vec());
        let expected = BlobResourceContents::new("u", "/w==").mime_type("image/png");
        assert_eq!(blob, expected.into());
        let blob = contents("u".into(), Path::new("a"), b"\xff".to_vec());
        let expected = BlobResourceContents::new("u", "/w==").mime_type("application/octet-stream");
        assert_eq!(blob, expected.into());
    }
}
