//! Tasks that give way.

use crate::protocol::{timed, Answer, Request};
use tokio::task::yield_now;

const CROWD: u64 = 1_000;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "yield_one" => |asked| timed(asked, 1_000_000, 1, yield_one),
        "yield_many" => |asked| timed(asked, 1_000_000, CROWD, yield_many),
        _ => return None,
    })
}

async fn gives_way(times: u64) -> u64 {
    let mut turns = 0;
    while turns < times {
        yield_now().await;
        turns += 1;
    }
    turns
}

async fn yield_one(count: u64) {
    assert_eq!(gives_way(count).await, count);
}

async fn yield_many(count: u64) {
    let all: Vec<_> = (0..CROWD).map(|_| tokio::spawn(gives_way(count / CROWD))).collect();
    let mut sum = 0;
    for one in all {
        sum += one.await.unwrap();
    }
    assert_eq!(sum, count);
}
