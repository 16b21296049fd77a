//! Messages from some tasks to others.

use crate::protocol::{sum_below, timed, Answer, Request};
use tokio::sync::mpsc;

const PLACES: usize = 64;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "mpsc_bounded_1" => |asked| timed(asked, 1_000_000, 8, |count| bounded(count, 1)),
        "mpsc_bounded_8" => |asked| timed(asked, 1_000_000, 8, |count| bounded(count, 8)),
        "mpsc_unbounded_1" => |asked| timed(asked, 1_000_000, 8, |count| unbounded(count, 1)),
        "mpsc_unbounded_8" => |asked| timed(asked, 1_000_000, 8, |count| unbounded(count, 8)),
        "mpmc_8" => |asked| timed(asked, 1_000_000, 8, many_to_many),
        _ => return None,
    })
}

async fn bounded(count: u64, senders: u64) {
    let (tx, mut rx) = mpsc::channel::<u64>(PLACES);
    let sum = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(one) = rx.recv().await {
            sum += one;
        }
        sum
    });
    let share = count / senders;
    for sender in 0..senders {
        let tx = tx.clone();
        tokio::spawn(async move {
            for i in 0..share {
                tx.send(sender * share + i).await.unwrap();
            }
        });
    }
    drop(tx);
    assert_eq!(sum.await.unwrap(), sum_below(count));
}

async fn unbounded(count: u64, senders: u64) {
    let (tx, mut rx) = mpsc::unbounded_channel::<u64>();
    let sum = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(one) = rx.recv().await {
            sum += one;
        }
        sum
    });
    let share = count / senders;
    for sender in 0..senders {
        let tx = tx.clone();
        tokio::spawn(async move {
            for i in 0..share {
                tx.send(sender * share + i).unwrap();
            }
        });
    }
    drop(tx);
    assert_eq!(sum.await.unwrap(), sum_below(count));
}

/// Through the crate async-channel.
async fn many_to_many(count: u64) {
    let (tx, rx) = async_channel::bounded::<u64>(PLACES);
    let mut sums = Vec::new();
    for _ in 0..8 {
        let rx = rx.clone();
        sums.push(tokio::spawn(async move {
            let mut sum = 0;
            while let Ok(one) = rx.recv().await {
                sum += one;
            }
            sum
        }));
    }
    let share = count / 8;
    for sender in 0..8 {
        let tx = tx.clone();
        tokio::spawn(async move {
            for i in 0..share {
                tx.send(sender * share + i).await.unwrap();
            }
        });
    }
    drop(tx);
    let mut sum = 0;
    for one in sums {
        sum += one.await.unwrap();
    }
    assert_eq!(sum, sum_below(count));
}
