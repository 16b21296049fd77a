//! The contestant Tokio: the same questions as all others, see bench/README.md.

mod channels;
mod files;
mod locks;
mod memory;
mod ping_pongs;
mod protocol;
mod servers;
mod spawns;
mod timers;
mod trees;
mod yields;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use protocol::{Answer, Request};

type Ask = fn(&Request) -> Answer;

/// Tries one file of questions after the other.
fn answer(asked: &Request) -> Option<Answer> {
    let groups: [fn(&str) -> Option<Ask>; 10] = [
        spawns::find, yields::find, ping_pongs::find, channels::find, locks::find,
        timers::find, trees::find, memory::find, servers::find, files::find,
    ];
    groups.iter().find_map(|find| find(&asked.question)).map(|ask| ask(asked))
}

fn main() {
    let asked = Request::from_command_line();
    match answer(&asked) {
        Some(got) => protocol::print(&asked, &got),
        None => {
            eprintln!("tokio: no question '{}'", asked.question);
            std::process::exit(2);
        }
    }
}
