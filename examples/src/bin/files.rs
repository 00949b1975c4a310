//! The files below one directory, for a model to read, list and search, and to write if it may.
//!
//! ```sh
//! cargo run --bin files -- ~/notes            # only reads
//! cargo run --bin files -- ~/notes --write    # may write, too
//! ```
//!
//! In a host: `{ "mcpServers": { "notes": { "command": "/path/to/files", "args": ["/home/me/notes"] } } }`
//!
//! No path leads outside of the directory, neither by `..` nor through a link. Who can change links
//! in there while it runs is trusted.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use mcp_server::prelude::*;

/// The directory, with no link in its own path.
struct Root(PathBuf);

/// The most of a file that is read at once, in bytes, so that no call fills memory or the model.
const MOST_BYTES: usize = 64 << 10;

/// The most that is listed or found at once.
const MOST_ITEMS: usize = 200;

/// The most of one file that is searched, in bytes.
const MOST_SEARCHED: u64 = 16 << 20;

impl Root {
    /// Where something is that is there.
    fn find(&self, path: &str) -> Result<PathBuf, ToolError> {
        // On Windows not every path may have the slashes that models write.
        let native: PathBuf = Path::new(path).components().collect();
        let leads_down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !native.components().all(leads_down) {
            return Err(outside(path));
        }
        let found = self.0.join(native).canonicalize().map_err(about(path))?;
        match found.starts_with(&self.0) {
            true => Ok(found),
            false => Err(outside(path)),
        }
    }

    /// Where something can be written: a name in a directory that is there.
    fn place(&self, path: &str) -> Result<PathBuf, ToolError> {
        let Some(Component::Normal(name)) = Path::new(path).components().next_back() else {
            return Err(ToolError::failed(format!("`{path}` names no file")));
        };
        let parent = Path::new(path).parent().and_then(Path::to_str);
        Ok(self.find(parent.unwrap_or_default())?.join(name))
    }

    /// How a path is named to the model.
    fn name(&self, path: &Path) -> String {
        let names = path.strip_prefix(&self.0).unwrap_or(path).iter();
        names
            .map(OsStr::to_string_lossy)
            .collect::<Vec<_>>()
            .join("/")
    }
}

fn outside(path: &str) -> ToolError {
    let why = "lies outside of the directory; paths are relative to it, as `list_files` shows them";
    ToolError::failed(format!("`{path}` {why}"))
}

/// Says what an error of the system is about, which it does not say itself.
fn about(path: &str) -> impl FnOnce(io::Error) -> ToolError {
    let path = path.to_owned();
    move |error| ToolError::failed(format!("`{path}`: {error}"))
}

/// Read a text file, or the part of it that begins at a line.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, open_world = false)]
struct ReadFile {
    /// Relative to the directory.
    path: String,
    /// The first line that is wanted, counted from 1. Default 1.
    from_line: Option<usize>,
}

impl RunBlocking<Root> for ReadFile {
    fn run(self, cx: &Context<Root>) -> Result<String, ToolError> {
        let path = cx.state().find(&self.path)?;
        if !path.is_file() {
            return Err(ToolError::failed(format!("`{}` is no file", self.path)));
        }
        let mut lines = BufReader::new(File::open(path).map_err(about(&self.path))?);
        let first = self.from_line.unwrap_or(1).max(1);
        let mut text = String::new();
        for number in 1.. {
            let mut line = Vec::new();
            let mut limited = lines.by_ref().take(MOST_BYTES as u64);
            limited
                .read_until(b'\n', &mut line)
                .map_err(about(&self.path))?;
            if line.is_empty() || cx.is_cancelled() {
                break;
            }
            if number < first {
                continue;
            }
            let line = String::from_utf8_lossy(&line);
            if !text.is_empty() && text.len() + line.len() > MOST_BYTES {
                text.push_str(&format!(
                    "[it goes on: read it with `from_line` {number}]\n"
                ));
                break;
            }
            text.push_str(&line);
        }
        Ok(text)
    }
}

/// List a directory.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, open_world = false, output = Listing)]
struct ListFiles {
    /// Relative to the directory of this server, which is listed by default.
    #[serde(default)]
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct Listing {
    entries: Vec<Entry>,
    /// Whether there are more than are listed here.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    path: String,
    is_directory: bool,
    /// In bytes.
    size: u64,
}

impl RunBlocking<Root> for ListFiles {
    fn run(self, cx: &Context<Root>) -> Result<Listing, ToolError> {
        let path = cx.state().find(&self.path)?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(about(&self.path))? {
            let entry = entry.map_err(about(&self.path))?;
            let Ok(data) = entry.metadata() else { continue };
            entries.push(Entry {
                path: cx.state().name(&entry.path()),
                is_directory: data.is_dir(),
                size: data.len(),
            });
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let more = entries.len() > MOST_ITEMS;
        entries.truncate(MOST_ITEMS);
        Ok(Listing { entries, more })
    }
}

/// Search files for lines with a text in them: the first 16 MiB of each.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, open_world = false, output = Found)]
struct SearchFiles {
    /// The text, in upper or lower case as it is written.
    text: String,
    /// Where to search: a directory or a file. Default everywhere.
    #[serde(default)]
    path: String,
}

#[derive(Default, Serialize, JsonSchema)]
struct Found {
    matches: Vec<Match>,
    /// Whether there are more than are given here: search for something longer, or further down.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    path: String,
    line: usize,
    text: String,
}

impl RunBlocking<Root> for SearchFiles {
    fn run(self, cx: &Context<Root>) -> Result<Found, ToolError> {
        if self.text.is_empty() {
            return Err(ToolError::failed("`text` is empty: say what to search for"));
        }
        let mut found = Found::default();
        let mut left = vec![cx.state().find(&self.path)?];
        while let Some(path) = left.pop() {
            // The thread that this runs on goes on when the call is cancelled, if it does not look.
            if cx.is_cancelled() || found.more {
                break;
            }
            if path.is_dir() {
                let inside = fs::read_dir(&path)?.flatten().filter(|entry| {
                    // Links are not followed: they may lead outside, or in a circle.
                    entry
                        .file_type()
                        .is_ok_and(|kind| kind.is_dir() || kind.is_file())
                });
                left.extend(inside.map(|entry| entry.path()));
            } else if path.is_file() {
                self.search(&path, &cx.state().name(&path), &mut found);
            }
        }
        Ok(found)
    }
}

impl SearchFiles {
    /// Searches one file. One that cannot be read, or is no text from some line on, has no more matches.
    fn search(&self, path: &Path, name: &str, found: &mut Found) {
        let Ok(file) = File::open(path) else { return };
        let lines = BufReader::new(file.take(MOST_SEARCHED))
            .lines()
            .map_while(Result::ok);
        let matches = lines
            .enumerate()
            .filter(|(_, line)| line.contains(&self.text));
        for (index, line) in matches {
            if found.matches.len() == MOST_ITEMS {
                found.more = true;
                return;
            }
            found.matches.push(Match {
                path: name.to_owned(),
                line: index + 1,
                text: line.chars().take(300).collect(),
            });
        }
    }
}

/// Write a text file, in place of one that is there.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(destructive, idempotent, open_world = false)]
struct WriteFile {
    /// Relative to the directory. What it lies in has to be there.
    path: String,
    text: String,
}

impl RunBlocking<Root> for WriteFile {
    fn run(self, cx: &Context<Root>) -> Result<String, ToolError> {
        let path = cx.state().place(&self.path)?;
        // A link may lead outside, and a pipe may never be read.
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(ToolError::failed(format!(
                "`{}` is no plain file",
                self.path
            )));
        }
        fs::write(path, &self.text).map_err(about(&self.path))?;
        Ok(format!("{} bytes are in `{}`", self.text.len(), self.path))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let directory = args.next().ok_or("files DIRECTORY [--write]")?;
    let root = Path::new(&directory).canonicalize();
    let root = root.map_err(|error| format!("{}: {error}", directory.to_string_lossy()))?;
    let mut server = Server::with_state("files", "1.0.0", Root(root))
        .blocking_tool::<ReadFile>()
        .blocking_tool::<ListFiles>()
        .blocking_tool::<SearchFiles>();
    match args.next() {
        Some(flag) if flag == "--write" => server = server.blocking_tool::<WriteFile>(),
        Some(flag) => return Err(format!("{} is not known", flag.to_string_lossy()).into()),
        None => {}
    }
    Ok(server.serve_stdio().await?)
}
