//! How slots are asked for.

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

    /// After this time, a client that has died or is cut off loses what it holds; 10 seconds unless
    /// said otherwise. It is rounded up to whole seconds, from 1 to 9,000,000,000. A cluster grants
    /// no less than one and a half times its election timeout: usually 2 seconds.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// For so long a request waits for its answer before it is sent again, to another member if
    /// there is one; 1 second unless said otherwise. It doubles with each attempt, so a time that
    /// is too short only costs requests. At least 100 microseconds, and at most a day.
    pub fn request_timeout(self, timeout: Duration) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self { timeout: timeout.clamp(Duration::from_micros(100), day), ..self }
    }

    /// For so long [`connect`](Self::connect) tries; 30 seconds unless said otherwise. Later calls
    /// wait until the cluster answers.
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// The keys begin with this; `doorway` unless said otherwise.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// What a [status](Slots::status) says of this client.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// A user of the cluster. It needs to read and write the keys under the prefix.
    pub fn user(self, name: impl Into<String>, password: impl Into<String>) -> Self {
        let options = self.options.with_user(name, password).with_auto_token_refresh(true);
        Self { options, ..self }
    }

    /// Encrypted connections.
    #[cfg(feature = "tls")]
    pub fn tls(self, tls: etcd_client::TlsOptions) -> Self {
        Self { options: self.options.with_tls(tls), ..self }
    }

    /// Connects, in a runtime of tokio: tasks of that runtime keep the lease alive, and watch.
    /// Other runtimes may use the slots too, as long as that one runs.
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
