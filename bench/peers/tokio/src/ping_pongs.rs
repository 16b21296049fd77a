//! Two tasks of which always one waits for the other.

use crate::protocol::{sum_below, timed, Answer, Request};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, Notify};

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "ping_pong_channel" => |asked| timed(asked, 100_000, 1, channel),
        "ping_pong_notify" => |asked| timed(asked, 100_000, 1, notify),
        "ping_pong_oneshot" => |asked| timed(asked, 100_000, 1, oneshot),
        _ => return None,
    })
}

async fn channel(count: u64) {
    let (ping, mut pinged) = mpsc::channel::<u64>(1);
    let (pong, mut ponged) = mpsc::channel::<u64>(1);
    let partner = tokio::spawn(async move {
        while let Some(one) = pinged.recv().await {
            pong.send(one).await.unwrap();
        }
    });
    let mut sum = 0;
    for i in 0..count {
        ping.send(i).await.unwrap();
        sum += ponged.recv().await.unwrap();
    }
    assert_eq!(sum, sum_below(count));
    drop(ping);
    partner.await.unwrap();
}

async fn notify(count: u64) {
    let (ping, pong) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (pinged, answer) = (ping.clone(), pong.clone());
    let partner = tokio::spawn(async move {
        for _ in 0..count {
            pinged.notified().await;
            answer.notify_one();
        }
    });
    for _ in 0..count {
        ping.notify_one();
        pong.notified().await;
    }
    partner.await.unwrap();
}

/// Each message brings the channel for its answer.
struct Ball {
    number: u64,
    back: oneshot::Sender<Ball>,
}

async fn oneshot_partner(mut pinged: oneshot::Receiver<Ball>) {
    while let Ok(came) = pinged.await {
        let (back, answered) = oneshot::channel();
        let _ = came.back.send(Ball { number: came.number, back });
        pinged = answered;
    }
}

async fn oneshot(count: u64) {
    let (mut out, pinged) = oneshot::channel();
    let partner = tokio::spawn(oneshot_partner(pinged));
    let mut sum = 0;
    for number in 0..count {
        let (back, answered) = oneshot::channel();
        let _ = out.send(Ball { number, back });
        let came = answered.await.unwrap();
        sum += came.number;
        out = came.back;
    }
    assert_eq!(sum, sum_below(count));
    drop(out);
    partner.await.unwrap();
}
