//! A connection that can be cut, and slowed down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Proxy {
    pub address: String,
    is_cut: Arc<AtomicBool>,
    /// The longest delay of an answer, in microseconds.
    delay: Arc<AtomicU64>,
    cuts: watch::Sender<u64>,
}

impl Proxy {
    pub async fn new(to: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (is_cut, delay) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let cuts = watch::Sender::new(0);
        let proxy = Self { address, is_cut: is_cut.clone(), delay: delay.clone(), cuts: cuts.clone() };
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if is_cut.load(SeqCst) {
                    continue; // closes it
                }
                let (to, mut cuts, delay) = (to.clone(), cuts.subscribe(), delay.clone());
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(to).await else { return };
                    let (near_in, near_out) = near.into_split();
                    let (far_in, far_out) = far.into_split();
                    tokio::select! {
                        () = pump(near_in, far_out, Arc::new(AtomicU64::new(0))) => {}
                        () = pump(far_in, near_out, delay) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        proxy
    }

    /// Ends all connections, and refuses new ones.
    pub fn cut(&self) {
        self.is_cut.store(true, SeqCst);
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    pub fn mend(&self) {
        self.is_cut.store(false, SeqCst);
    }

    /// Answers take up to this time longer.
    pub fn delays(&self, most: Duration) {
        self.delay.store(most.as_micros() as u64, SeqCst);
    }
}

async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    delay: Arc<AtomicU64>,
) {
    let mut buffer = vec![0; 1 << 16];
    let mut random = 0x2545_f491_4f6c_dd1du64;
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let most = delay.load(SeqCst);
        if most > 0 {
            tokio::time::sleep(Duration::from_micros(random % most)).await;
        }
        if to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}
