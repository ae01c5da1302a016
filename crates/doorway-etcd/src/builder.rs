//! Options for connecting to slots.

use crate::cluster::Cluster;
use crate::errors::Error;
use crate::keys::Keys;
use crate::slots::Slots;
use etcd_client::ConnectOptions;
use std::time::Duration;

/// Options of [`Slots`].
///
/// ```no_run
/// # async fn run() -> Result<(), doorway_etcd::Error> {
/// use doorway_etcd::Slots;
/// use std::time::Duration;
/// let gpus = Slots::builder(["http://10.0.0.1:2379", "http://10.0.0.2:2379"], "gpus", 4)
///     .ttl(Duration::from_secs(5))
///     .label("trainer 7")
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `connect`"]
pub struct Builder {
    endpoints: Vec<String>,
    name: String,
    /// `None`: the number that the store has.
    slots: Option<usize>,
    prefix: String,
    ttl: Duration,
    timeout: Duration,
    connect_timeout: Duration,
    label: String,
    options: ConnectOptions,
}

impl Builder {
    pub(crate) fn new<E: AsRef<str>>(
        endpoints: impl IntoIterator<Item = E>,
        name: impl Into<String>,
        slots: Option<usize>,
    ) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(|endpoint| endpoint.as_ref().to_owned()).collect(),
            name: name.into(),
            slots,
            prefix: "doorway".to_owned(),
            ttl: Duration::from_secs(10),
            timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(30),
            label: String::new(),
            options: ConnectOptions::new(),
        }
    }

    /// Sets the time to live of the lease. A client that has died or is cut off loses its slots
    /// after this time. The default is 10 seconds. The time is rounded up to whole seconds, from 1
    /// to 9,000,000,000. A cluster grants at least one and a half times its election timeout:
    /// usually 2 seconds.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// Sets how long the client waits for an answer before it sends the request again, to another
    /// member if there is one. The default is 1 second. The time doubles with each attempt, so a
    /// time that is too short only costs requests. It is at least 100 microseconds, and at most a
    /// day.
    pub fn request_timeout(self, timeout: Duration) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self { timeout: timeout.clamp(Duration::from_micros(100), day), ..self }
    }

    /// Sets how long [`connect`](Self::connect) tries. The default is 30 seconds. Later calls wait
    /// until the cluster answers.
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Sets the prefix of all keys. The default is `doorway`.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// Sets the label that a [status](Slots::status) shows for this client.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Sets the user of the cluster. The user needs the right to read and write the keys under the
    /// prefix.
    pub fn user(self, name: impl Into<String>, password: impl Into<String>) -> Self {
        let options = self.options.with_user(name, password).with_auto_token_refresh(true);
        Self { options, ..self }
    }

    /// Encrypts connections, with these options.
    #[cfg(feature = "tls")]
    pub fn tls(self, tls: etcd_client::TlsOptions) -> Self {
        Self { options: self.options.with_tls(tls), ..self }
    }

    /// Connects, in a runtime of tokio. Tasks of that runtime keep the lease alive and run the
    /// watch. Other runtimes may use the slots too, as long as that runtime runs.
    ///
    /// # Errors
    /// Returns an error if the options make no sense, if the cluster has another number of slots
    /// under this name, or if it does not answer.
    pub async fn connect(self) -> Result<Slots, Error> {
        if self.name.is_empty() || self.name.contains(char::is_control) {
            return Err(Error::BadName(self.name));
        }
        if let Some(k @ (0 | 100_001..)) = self.slots {
            return Err(Error::BadSlots(k));
        }
        let options = self
            .options
            .with_require_leader(true)
            .with_connect_timeout(self.timeout.max(Duration::from_millis(100)))
            .with_keep_alive(Duration::from_secs(2), Duration::from_secs(2))
            .with_keep_alive_while_idle(true);
        let cluster = Cluster::new(&self.endpoints, options, self.timeout)?;
        let keys = Keys::new(&self.prefix, &self.name, self.slots.unwrap_or(0));
        let connected = Slots::begin(cluster, keys, self.slots, self.name, self.ttl, self.label);
        match tokio::time::timeout(self.connect_timeout, connected).await {
            Ok(slots) => slots,
            Err(_) => Err(Error::Unreachable(self.endpoints.join(", "))),
        }
    }
}
