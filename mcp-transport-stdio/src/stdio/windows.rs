//! Handles: duplicates that carry the protocol.
//!
//! There is no safe way to make the standard handles lead elsewhere, so they stay as they are.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::windows::io::{AsHandle, BorrowedHandle};

use super::thread::{ThreadReader, ThreadWriter};
use super::{Input, Output};

/// The handles that carry the protocol.
///
/// Used as files and not through [`std::io::stdin`] and [`std::io::stdout`], whose locks
/// anybody may hold, and which alter what is not UTF-8.
#[derive(Debug)]
pub(super) struct Streams {
    input: File,
    output: File,
}

impl Streams {
    pub(super) fn take() -> io::Result<Self> {
        Ok(Self {
            input: duplicate(io::stdin().as_handle(), "standard input")?,
            output: duplicate(io::stdout().as_handle(), "standard output")?,
        })
    }

    pub(super) fn open(self) -> (io::Result<Input>, io::Result<Output>) {
        (open_input(self.input), open_output(self.output))
    }
}

fn duplicate(stream: BorrowedHandle<'_>, name: &str) -> io::Result<File> {
    let handle = stream
        .try_clone_to_owned()
        .map_err(|error| io::Error::new(error.kind(), format!("{name} cannot be used: {error}")))?;
    Ok(File::from(handle))
}

fn open_input(input: File) -> io::Result<Input> {
    // Only the standard library knows how to get UTF-8 out of a console.
    let source: Box<dyn Read + Send> = if input.is_terminal() {
        Box::new(io::stdin())
    } else {
        Box::new(input)
    };
    Ok(Box::new(ThreadReader::spawn(source)?))
}

fn open_output(output: File) -> io::Result<Output> {
    let sink: Box<dyn Write + Send> = if output.is_terminal() {
        Box::new(io::stdout())
    } else {
        Box::new(output)
    };
    Ok(Box::new(ThreadWriter::spawn(sink)?))
}
