//! Objects that are ready to be shared.
//!
//! There is none for what one machine instruction does: an atomic counter, flag, maximum or word is
//! already resilient.

use super::{Object, Resilient};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// One value of any size that is replaced as a whole: a configuration, a routing table. Copies of
/// the state share the value.
///
/// # Examples
/// ```
/// use doorway::resilient::{Register, Resilient};
///
/// let config = Resilient::new(Register::new(vec!["verbose"]), 3)?;
/// let before = config.load();
/// assert_eq!(*config.swap(vec!["quiet"]), ["verbose"]);
/// assert_eq!((&**before, &**config.load()), (&["verbose"][..], &["quiet"][..]));
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
#[derive(Debug)]
pub struct Register<V>(Arc<V>);

impl<V> Register<V> {
    /// Makes a register with this value.
    pub fn new(value: V) -> Self {
        Self(Arc::new(value))
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Arc<V> {
        &self.0
    }
}

impl<V> Clone for Register<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V: Send + Sync> Object for Register<V> {
    type Op = Arc<V>;
    /// The previous value.
    type Response = Arc<V>;

    fn apply(&mut self, new: &Arc<V>) -> Arc<V> {
        std::mem::replace(&mut self.0, Arc::clone(new))
    }
}

impl<V: Send + Sync> Resilient<Register<V>> {
    /// The value.
    #[must_use]
    pub fn load(&self) -> Arc<V> {
        self.read(|register| Arc::clone(&register.0))
    }

    /// Replaces the value.
    pub fn store(&self, value: V) {
        self.swap(value);
    }

    /// Replaces the value, and returns the previous one.
    pub fn swap(&self, value: V) -> Arc<V> {
        self.apply(Arc::new(value))
    }
}

/// Several values that are replaced one at a time and read together.
///
/// # Examples
/// ```
/// use doorway::resilient::{Resilient, Snapshot};
///
/// let progress = Resilient::new(Snapshot::new([0; 4]), 2)?;
/// assert_eq!(progress.update(2, 50), Ok(0));
/// assert_eq!(progress.scan(), [0, 0, 50, 0]); // as they were at one moment
/// assert_eq!(progress.update(4, 50), Err(50)); // there is no such component
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
#[derive(PartialEq, Eq, Debug)]
pub struct Snapshot<V>(Vec<V>);

impl<V> Snapshot<V> {
    /// Makes a snapshot object with these components.
    pub fn new(components: impl IntoIterator<Item = V>) -> Self {
        Self(components.into_iter().collect())
    }

    /// The components.
    #[must_use]
    pub fn components(&self) -> &[V] {
        &self.0
    }
}

impl<V: Clone> Clone for Snapshot<V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl<V: Clone + Send + Sync> Object for Snapshot<V> {
    /// The index of a component, and its new value.
    type Op = (usize, V);
    /// The component's previous value, or the new value as an error if there is no such component.
    type Response = Result<V, V>;

    fn apply(&mut self, (component, new): &(usize, V)) -> Result<V, V> {
        let old = self.0.get_mut(*component).ok_or_else(|| new.clone())?;
        Ok(std::mem::replace(old, new.clone()))
    }
}

impl<V: Clone + Send + Sync> Resilient<Snapshot<V>> {
    /// Replaces one component, and returns its previous value.
    ///
    /// # Errors
    /// Gives the value back if there is no such component.
    pub fn update(&self, component: usize, value: V) -> Result<V, V> {
        self.apply((component, value))
    }

    /// Returns all components as they were at one moment.
    #[must_use]
    pub fn scan(&self) -> Vec<V> {
        self.read(|snapshot| snapshot.0.clone())
    }
}

/// A queue of bounded length.
///
/// Each operation copies the contents, so use it for short queues, or for values that are cheap to
/// clone.
///
/// # Examples
/// ```
/// use doorway::resilient::{Resilient, Ring};
///
/// let ring = Resilient::new(Ring::new(2), 2)?;
/// assert_eq!((ring.push('a'), ring.push('b'), ring.push('c')), (Ok(()), Ok(()), Err('c')));
/// assert_eq!((ring.pop(), ring.pop(), ring.pop()), (Some('a'), Some('b'), None));
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
#[derive(Debug)]
pub struct Ring<V> {
    queue: VecDeque<V>,
    capacity: usize,
}

impl<V> Ring<V> {
    /// Makes a queue for `capacity` values. With capacity 0 it is always full and always empty.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { queue: VecDeque::new(), capacity }
    }

    /// The number of values in the queue.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether the queue has no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The largest number of values that fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Iterates over the values, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &V> {
        self.queue.iter()
    }
}

impl<V: Clone> Clone for Ring<V> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), capacity: self.capacity }
    }
    fn clone_from(&mut self, other: &Self) {
        self.queue.clone_from(&other.queue);
        self.capacity = other.capacity;
    }
}

/// An operation on a [`Ring`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RingOp<V> {
    /// Adds a value at the end. If the ring is full, the response is that value.
    Push(V),
    /// Takes the first value.
    Pop,
}

impl<V: Clone + Send + Sync> Object for Ring<V> {
    type Op = RingOp<V>;
    type Response = Option<V>;

    fn apply(&mut self, op: &RingOp<V>) -> Option<V> {
        match op {
            RingOp::Push(value) if self.queue.len() < self.capacity => {
                self.queue.push_back(value.clone());
                None
            }
            RingOp::Push(value) => Some(value.clone()),
            RingOp::Pop => self.queue.pop_front(),
        }
    }
}

impl<V: Clone + Send + Sync> Resilient<Ring<V>> {
    /// Adds a value at the end.
    ///
    /// # Errors
    /// Gives the value back if the ring is full.
    pub fn push(&self, value: V) -> Result<(), V> {
        self.apply(RingOp::Push(value)).map_or(Ok(()), Err)
    }

    /// Takes the first value. Returns `None` if the ring is empty.
    pub fn pop(&self) -> Option<V> {
        self.apply(RingOp::Pop)
    }
}

/// A value of any type, whose operations are closures.
///
/// # Examples
/// ```
/// use doorway::resilient::{Closures, Resilient};
/// use std::collections::BTreeMap;
///
/// let stock = Resilient::new(Closures::new(BTreeMap::from([("apples", 3)])), 2)?;
/// let left = stock.with(|stock| {
///     let apples = stock.get_mut("apples")?;
///     *apples -= 1;
///     Some(*apples)
/// });
/// assert_eq!(left, Some(2));
/// assert_eq!(stock.read(|stock| stock.value().len()), 1);
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
#[derive(Debug)]
pub struct Closures<T>(T);

impl<T: Clone> Clone for Closures<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl<T> Closures<T> {
    /// Wraps this value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.0
    }

    /// Returns the value.
    #[must_use]
    pub fn into_value(self) -> T {
        self.0
    }
}

/// The return value of a closure, of any type.
type Returned = Box<dyn Any + Send>;

/// A closure that changes a value. It may run several times, on copies, one of which becomes the
/// value.
pub struct Change<T>(Box<dyn Fn(&mut T) -> Returned + Send + Sync>);

impl<T> Change<T> {
    /// Wraps this closure, which must change nothing but the value.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Change, Closures, Resilient};
    /// let mut handles = Resilient::new(Closures::new(5), 1)?.into_handles();
    /// let old = handles[0].apply(Change::new(|value| std::mem::replace(value, 7)));
    /// assert_eq!((old.downcast_ref(), handles[0].read(|value| *value.value())), (Some(&5), 7));
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    pub fn new<R: Send + 'static>(change: impl Fn(&mut T) -> R + Send + Sync + 'static) -> Self {
        Self(Box::new(move |value| Box::new(change(value))))
    }
}

impl<T> fmt::Debug for Change<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

impl<T: Clone + Send + Sync> Object for Closures<T> {
    type Op = Change<T>;
    type Response = Box<dyn Any + Send>;

    fn apply(&mut self, Change(change): &Change<T>) -> Box<dyn Any + Send> {
        change(&mut self.0)
    }
}

impl<T: Clone + Send + Sync> Resilient<Closures<T>> {
    /// Changes the value, and returns the closure's return value.
    ///
    /// The closure may run several times, on copies, one of which becomes the value. So it must
    /// change nothing else.
    pub fn with<R: Send + 'static>(&self, change: impl Fn(&mut T) -> R + Send + Sync + 'static) -> R {
        let response = self.apply(Change::new(change));
        match response.downcast() {
            Ok(response) => *response,
            Err(_) => unreachable!("the closure that was applied is the one that was given"),
        }
    }
}
