//! Small line plots in one SVG image, for light and for dark pages.

use std::fmt::Write as _;

use super::compare::digits;

/// One plot: costs, from zero up, over something that grows.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    /// Where on the axis, and how high.
    pub(super) points: Vec<(f64, f64)>,
    /// What is written below each point.
    pub(super) labels: Vec<String>,
}

const COLUMNS: usize = 2;
const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 200.0;

/// What is around the lines of a panel.
const LEFT: f64 = 30.0;
const RIGHT: f64 = 30.0;
const ABOVE: f64 = 62.0;
const BELOW: f64 = 34.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#57606a}\
.t{font-weight:600;fill:#24292f}.a{stroke:#d0d7de}.l{fill:none;stroke:#0969da;stroke-width:2}.p{fill:#0969da}\
@media(prefers-color-scheme:dark){text{fill:#9198a1}.t{fill:#f0f6fc}.a{stroke:#3d444d}.l{stroke:#4493f8}.p{fill:#4493f8}}";

/// The image.
pub(super) fn svg(panels: &[Panel]) -> String {
    let rows = panels.len().div_ceil(COLUMNS);
    let (width, height) = (WIDTH * COLUMNS as f64, HEIGHT * rows as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        let x = (number % COLUMNS) as f64 * WIDTH;
        let y = (number / COLUMNS) as f64 * HEIGHT;
        let drawn = panel.draw();
        svg += &format!("<g transform=\"translate({x} {y})\">\n{drawn}</g>\n");
    }
    svg + "</svg>\n"
}

impl Panel {
    fn draw(&self) -> String {
        let base = HEIGHT - BELOW;
        let points = self.places();
        let line: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let mut svg = format!(
            "<text class=\"t\" x=\"{LEFT}\" y=\"20\">{}</text>\n<text x=\"{LEFT}\" y=\"37\">{}</text>\n\
             <path class=\"a\" d=\"M{LEFT} {base}H{}\"/>\n<polyline class=\"l\" points=\"{}\"/>\n",
            self.title,
            self.unit,
            WIDTH - RIGHT,
            line.join(" ")
        );
        for (((x, y), (_, cost)), label) in points.iter().zip(&self.points).zip(&self.labels) {
            // A string takes whatever is written.
            let _ = writeln!(
                svg,
                "<circle class=\"p\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>\
                 <text text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>\
                 <text text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{label}</text>",
                y - 8.0,
                digits(*cost),
                base + 18.0,
            );
        }
        svg
    }

    /// Where the points are in the panel. The highest cost is at its top and no cost at its bottom,
    /// so that what is flat looks flat.
    fn places(&self) -> Vec<(f64, f64)> {
        let most = self
            .points
            .iter()
            .map(|(_, cost)| *cost)
            .fold(f64::MIN_POSITIVE, f64::max);
        let first = self.points.first().map_or(0.0, |(place, _)| *place);
        let last = self.points.last().map_or(0.0, |(place, _)| *place);
        let wide = (last - first).max(f64::MIN_POSITIVE);
        let places = self.points.iter().map(|(place, cost)| {
            let x = LEFT + 10.0 + (place - first) / wide * (WIDTH - LEFT - RIGHT - 20.0);
            let y = HEIGHT - BELOW - cost / most * (HEIGHT - ABOVE - BELOW);
            (x, y)
        });
        places.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flat_looks_flat_and_zero_is_the_bottom() {
        let panel = Panel {
            title: "t",
            unit: "u",
            points: vec![(0.0, 2.0), (1.0, 2.0), (2.0, 0.0)],
            labels: vec!["1".into(), "2".into(), "3".into()],
        };
        let places = panel.places();
        assert_eq!(places[0].1, ABOVE);
        assert_eq!(places[1].1, ABOVE);
        assert_eq!(places[2].1, HEIGHT - BELOW);
        assert!(places[0].0 < places[1].0 && places[1].0 < places[2].0);
        let svg = svg(&[panel]);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }
}
