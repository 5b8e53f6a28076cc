//! A matcher plugin that costs as little as possible: it scans a line for the id, and says yes.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let id = line.rfind("\"id\":").map_or("", |at| line[at + 5..].trim_end().trim_end_matches('}'));
        let answer = format!("{{\"id\":{id},\"result\":true}}\n");
        output.write_all(answer.as_bytes())?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
