//! Owns the report: one HTML page with everything in it, that needs no network and no script. Must not know where it is written.

mod curves;
mod mistakes;

use super::card::LIMITS;
use super::{Subject, facts};
use crate::math::statistics::class_scores;
use crate::records::Evaluation;

const STYLE: &str = include_str!("../../../assets/export/report.css");

/// The page.
pub fn html(subject: &Subject) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=lead>{}</p>\n", escaped(&subject.title()), escaped(&subject.sentence()));
    body += &headline(subject);
    if let Some(run) = subject.run.as_ref().filter(|run| !run.epochs.is_empty()) {
        body += "<h2>How it learned</h2>\n<div class=charts>\n";
        body += &curves::accuracy(&run.epochs);
        body += &curves::loss(&run.epochs);
        body += "</div>\n";
    }
    if let Some(test) = subject.test() {
        body += &confusion(test);
        body += &mistakes::show(test);
    }
    for (heading, facts) in facts::groups(subject) {
        let rows: String = facts
            .iter()
            .map(|(name, value)| format!("<tr><th scope=row>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value)))
            .collect();
        body += &format!("<h2>{}</h2>\n<table class=facts>\n{rows}</table>\n", escaped(heading));
    }
    let limits: String = LIMITS.iter().map(|limit| format!("<li>{}</li>\n", escaped(limit))).collect();
    format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}<h2>Limits</h2>\n<ul>\n{limits}</ul>\n\
         <footer>Written by Inkling {}.</footer>\n</main>\n</body>\n</html>\n",
        escaped(&subject.title()),
        env!("CARGO_PKG_VERSION")
    )
}

/// The one figure, large.
fn headline(subject: &Subject) -> String {
    let tested = subject.tested().unwrap_or_else(|| "Not measured on a test split".to_owned());
    let (figure, rest) = tested.split_once(" of ").unwrap_or((&tested, ""));
    let rest = if rest.is_empty() { String::new() } else { format!("<span>of {}</span>", escaped(rest)) };
    let quantized = subject.quantization().map_or_else(String::new, |words| format!("<p>Quantised: {}.</p>\n", escaped(&words)));
    format!("<p class=figure><strong>{}</strong> {rest}</p>\n{quantized}", escaped(figure))
}

/// Rows are what the pictures show, columns what was read; the more, the darker.
fn confusion(test: &Evaluation) -> String {
    let mut table = "<h2>What was read as what</h2>\n<p>Rows: what the pictures show. Columns: what was read.</p>\n<table class=confusion>\n<tr><td></td>".to_owned();
    table += &(0..test.confusion.len()).map(|digit| format!("<th scope=col>{digit}</th>")).collect::<String>();
    table += "<th scope=col>right</th></tr>\n";
    for (score, row) in class_scores(test).into_iter().zip(&test.confusion) {
        table += &format!("<tr><th scope=row>{}</th>", score.digit);
        for (answer, &count) in row.iter().enumerate() {
            let right = answer == usize::from(score.digit);
            // Mistakes are few: their shade shows from one in a hundred on.
            let share = f64::from(count) / score.images.max(1) as f64;
            let shade = if right { share * 0.5 } else { (share * 10.0).min(1.0).sqrt() };
            let class = if right { "right" } else { "wrong" };
            let count = if count == 0 { "·".to_owned() } else { count.to_string() };
            table += &format!("<td class={class} style=\"--shade:{shade:.2}\">{count}</td>");
        }
        let share = score.accuracy().map_or_else(|| "–".to_owned(), |share| crate::text::format::percent(share, 1));
        table += &format!("<td>{share}</td></tr>\n");
    }
    table + "</table>\n"
}

/// Text as HTML has it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
