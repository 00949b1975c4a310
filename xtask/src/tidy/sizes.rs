//! The sizes of files and functions: printed, judged by nobody.

use crate::source::{Source, item_end, line_of, occurrences};

/// One line per crate, and one for all of them. Tests are left out.
pub(super) fn print(sources: &[Source]) {
    let product: Vec<_> = sources.iter().filter(|source| is_product(source)).collect();
    let mut crates: Vec<&str> = product
        .iter()
        .filter_map(|source| source.path.split('/').next())
        .collect();
    crates.dedup();
    println!(
        "\nlines without tests         files    all   median  p90  max   functions  median  p90  max"
    );
    for name in crates {
        let prefix = format!("{name}/");
        print_line(
            name,
            product
                .iter()
                .filter(|source| source.path.starts_with(&prefix)),
        );
    }
    print_line("all", product.iter());
}

fn is_product(source: &Source) -> bool {
    source.is_rust() && !source.is_test() && source.path.contains("/src/")
}

fn print_line<'a>(name: &str, sources: impl Iterator<Item = &'a &'a Source>) {
    let mut files = Vec::new();
    let mut functions = Vec::new();
    for source in sources {
        files.push(file_lines(source));
        functions.extend(function_lines(source.product()));
    }
    let all: usize = files.iter().sum();
    let [median, p90, max] = spread(&mut files);
    let [f_median, f_p90, f_max] = spread(&mut functions);
    let (files, functions) = (files.len(), functions.len());
    println!(
        "{name:<26} {files:>6} {all:>6} {median:>8} {p90:>4} {max:>4} {functions:>11} {f_median:>7} {f_p90:>4} {f_max:>4}"
    );
}

/// Lines up to the unit tests, which stand last.
fn file_lines(source: &Source) -> usize {
    let tests = source.code().find("#[cfg(test)]\nmod tests {");
    source.text[..tests.unwrap_or(source.text.len())]
        .lines()
        .count()
}

/// From the `fn` to the closing brace, for each function that has a body.
fn function_lines(code: &str) -> Vec<usize> {
    let places = occurrences(code, "fn").filter(|place| code[place + 2..].starts_with(' '));
    let bodies = places.filter_map(|place| {
        let end = signature_end(code, place)?;
        let lines = line_of(code, item_end(code, end) - 1) - line_of(code, place) + 1;
        Some(lines)
    });
    bodies.collect()
}

/// Where the body begins; nothing for a declaration without one.
fn signature_end(code: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    for (place, next) in code[start..].char_indices() {
        match next {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(start + place),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Median, ninetieth percentile, maximum.
fn spread(sizes: &mut [usize]) -> [usize; 3] {
    sizes.sort_unstable();
    let at = |percent: usize| {
        sizes.get((sizes.len() * percent / 100).min(sizes.len().saturating_sub(1)))
    };
    [50, 90, 100].map(|percent| at(percent).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_name_to_brace() {
        let code = "fn a() {}\ntrait T { fn b(&self) -> [u8; 2]; }\nfn c<F: Fn()>(\n    f: F,\n) -> [u8; 2] {\n    {}\n}\ntype P = fn(u8);";
        assert_eq!(function_lines(code), [1, 5]);
    }

    #[test]
    fn the_tail_shows() {
        assert_eq!(spread(&mut [9, 1, 2, 3, 4, 5, 6, 7, 8, 100]), [6, 100, 100]);
        assert_eq!(spread(&mut []), [0, 0, 0]);
    }
}
