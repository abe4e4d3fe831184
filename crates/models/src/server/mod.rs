//! Any model as a server on loopback with the interfaces of OpenAI (chat completions, responses),
//! Anthropic (messages) and Google (generateContent), so that programs in other languages meet it over HTTP.
//!
//! A reply is what the same wire content gives in process. Absent on purpose: any address but
//! loopback, keys, TLS, sleeps (a reply's latency is in the header `openai-processing-ms`, it does
//! not pass), and a clock (`created` is 0).

mod answering;
mod apis;
mod field;
#[doc(hidden)]
pub mod fuzzing;
mod responder;
mod routes;
mod trouble;

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use compactometer_engine::model::ChatModel;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use responder::OfModel;
pub use responder::{Called, ModelAnswer, Posted, Responder, ServerRefusal};

/// How much a server takes.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Most bytes of a request's body.
    pub body_bytes: usize,
    /// Most connections at once; more wait until one closes.
    pub connections: usize,
    /// Longest wait for a request's headers. Then the connection closes and gives its place to
    /// another.
    pub idle: Duration,
    /// Longest wait for a request's body.
    pub read: Duration,
    /// Longest wait at a stop for the requests that are under way.
    pub stop: Duration,
}

impl Default for ServerLimits {
    /// 16 MiB hold a context of some four million tokens.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        ServerLimits {
            body_bytes: 16 << 20,
            connections: 64,
            idle: seconds(5),
            read: seconds(10),
            stop: seconds(5),
        }
    }
}

/// A bound server that does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    responder: Arc<dyn Responder>,
    limits: ServerLimits,
}

impl Server {
    /// Binds 127.0.0.1 at a port; 0 takes a free one.
    ///
    /// # Errors
    /// Where the port is taken or not allowed.
    pub async fn bind(
        model: Arc<dyn ChatModel>,
        port: u16,
        limits: ServerLimits,
    ) -> std::io::Result<Self> {
        Server::answering(Arc::new(OfModel(model)), port, limits).await
    }

    /// The same for whoever answers.
    ///
    /// # Errors
    /// Where the port is taken or not allowed.
    pub async fn answering(
        responder: Arc<dyn Responder>,
        port: u16,
        limits: ServerLimits,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Server {
            listener,
            address,
            responder,
            limits,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is done, then lets the requests under way end, as long as the limits
    /// allow.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let limits = self.limits;
        let places = Arc::new(Semaphore::new(limits.connections));
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, place) = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accept(&self.listener, &places) => accepted,
            };
            let responder = Arc::clone(&self.responder);
            let service = service_fn(move |request| {
                let responder = Arc::clone(&responder);
                async move { Ok::<_, Infallible>(routes::respond(&*responder, &limits, request).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new())
                .header_read_timeout(limits.idle);
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                // A client that goes away or breaks the protocol ends its own connection and
                // nothing else.
                drop(connection.await);
                drop(place);
            });
        }
        drop(self.listener);
        drop(tokio::time::timeout(limits.stop, graceful.shutdown()).await);
    }
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    /// A listener that cannot accept, for want of file handles, is asked again after this long.
    const PAUSE: Duration = Duration::from_millis(50);
    loop {
        let place = Arc::clone(places).acquire_owned().await;
        if let (Ok(place), Ok((stream, _))) = (place, listener.accept().await) {
            return (stream, place);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
