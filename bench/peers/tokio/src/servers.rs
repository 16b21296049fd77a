//! Servers that others put under load.

use crate::protocol::{on_worker, Answer, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "echo_server" => |asked| {
            on_worker(&asked.start_runtime(), serve_echo(asked.buffer, asked.hog));
            unreachable!("it is killed")
        },
        "close_server" => |asked| {
            on_worker(&asked.start_runtime(), serve_close());
            unreachable!("it is killed")
        },
        _ => return None,
    })
}

fn listen() -> TcpListener {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(4_096).unwrap();
    println!("{{\"port\": {}}}", listener.local_addr().unwrap().port());
    listener
}

async fn echo(mut peer: TcpStream, size: usize) {
    let mut buffer = vec![0; size];
    loop {
        match peer.read(&mut buffer).await {
            Ok(got) if got > 0 => {
                if peer.write_all(&buffer[..got]).await.is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// Takes no account of anybody.
async fn hog() {
    let mut i = 0_u64;
    loop {
        i = std::hint::black_box(i + 1);
    }
}

async fn serve_echo(buffer: usize, with_hog: bool) {
    let listener = listen();
    if with_hog {
        tokio::spawn(hog());
    }
    loop {
        if let Ok((peer, _)) = listener.accept().await {
            let _ = peer.set_nodelay(true);
            tokio::spawn(echo(peer, buffer));
        }
    }
}

async fn serve_close() {
    let listener = listen();
    loop {
        let _ = listener.accept().await;
    }
}
