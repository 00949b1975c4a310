//! What is measured, where readers see it: between two marks of the README.

use std::fs;
use std::process::Command;

use super::peers;
use crate::workspace;

/// Puts a text between the marks of this name.
pub(super) fn bless(name: &str, text: &str) -> Result<(), String> {
    let file = workspace::root().join("README.md");
    let page = fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let page = with(&page, name, text).ok_or(format!("README.md has no marks `{name}`"))?;
    fs::write(&file, page).map_err(|error| error.to_string())
}

fn with(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->"),
    );
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

/// Where and when it was measured, and what compiled it.
pub(super) fn circumstances() -> Result<String, String> {
    let processors = fs::read_to_string("/proc/cpuinfo").map_err(|error| error.to_string())?;
    let mut models = processors
        .lines()
        .filter_map(|line| line.strip_prefix("model name"));
    let model = models.next().map_or("an unknown processor", |model| {
        model.trim_start_matches(['\t', ' ', ':'])
    });
    let cores = std::thread::available_parallelism().map_err(|error| error.to_string())?;
    let kernel =
        fs::read_to_string("/proc/sys/kernel/osrelease").map_err(|error| error.to_string())?;
    let load = fs::read_to_string("/proc/loadavg").map_err(|error| error.to_string())?;
    let load = load.split(' ').next().unwrap_or_default();
    let date = workspace::output(Command::new("date").args(["-u", "+%F"]))?;
    let compiler = workspace::output(Command::new("rustc").arg("--version"))?;
    let compiler: Vec<_> = compiler.split(' ').take(2).collect();
    Ok(format!(
        "{}, {cores} cores of {model}, Linux {}, {}, {}; other work had a load of {load}",
        date.trim(),
        kernel.trim(),
        compiler.join(" "),
        peers::version("tokio")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let expected = "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n";
        assert_eq!(with(page, "x", "new\n").as_deref(), Some(expected));
        assert_eq!(with(expected, "x", "new").as_deref(), Some(expected));
        assert_eq!(with(page, "y", "new"), None);
    }
}
