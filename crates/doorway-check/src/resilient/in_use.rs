//! The universal construction with everything that its users can do: operations that fail, copies
//! that fail, looks, and remembered free buffers.

use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::memory::{At, Process, Site};
use doorway_core::mutex::yang_anderson_93::{Affine, Map, map_of};
use doorway_core::registry::Sizes;
use doorway_core::resilient::in_words::{InWords, Request};
use doorway_core::resilient::{Asked, Buffer, Pool, Store, Universal};
use std::convert::Infallible;
use std::future::Future;
use std::rc::Rc;

type Maps = InWords<Sim, Affine<5>>;

/// A store whose copies may fail at any time.
#[derive(Debug)]
pub(crate) struct MayFail(Maps);

/// What a failed copy left behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

/// Adding one to one fails.
pub(crate) fn fails(op: Map, value: u64) -> bool {
    op.times == 1 && value == 1
}

impl MayFail {
    pub(crate) fn with(site: &Site<'_, Sim>, k: usize, pool: Pool) -> Self {
        Self(InWords::new(site, k, pool, 0).that_fails(fails))
    }
}

impl Store<Sim> for MayFail {
    type Op = Request<Map>;
    type Response = u64;
    type Panic = Broken;

    const COPIES_CAN_FAIL: bool = true;

    fn tag(op: &Request<Map>) -> u64 {
        Maps::tag(op)
    }

    fn told(result: &Result<u64, Broken>) -> u64 {
        result.unwrap_or(u64::MAX)
    }

    fn nothing() -> Request<Map> {
        Maps::nothing()
    }

    async fn copy(&self, at: At<'_, Sim>, from: Buffer, to: Buffer) -> Result<Result<(), Broken>, Infallible> {
        if at.choose(2).await? == 1 {
            return Ok(Err(Broken));
        }
        let Ok(Ok(())) = self.0.copy(at, from, to).await;
        Ok(Ok(()))
    }

    fn apply(
        &self,
        at: At<'_, Sim>,
        to: Buffer,
        q: usize,
        op: Asked<'_, Request<Map>>,
    ) -> impl Future<Output = Result<bool, Infallible>> {
        self.0.apply(at, to, q, op)
    }

    fn put(
        &self,
        at: At<'_, Sim>,
        p: usize,
        cell: u8,
        op: Request<Map>,
    ) -> impl Future<Output = Result<(), Infallible>> {
        self.0.put(at, p, cell, op)
    }

    fn take(&self, at: At<'_, Sim>, from: Buffer, p: usize) -> impl Future<Output = Result<u64, Infallible>> {
        self.0.take(at, from, p)
    }
}

/// What an object must offer to be used like this.
pub(crate) trait Usable: 'static {
    fn perform(
        &self,
        process: &Process<Sim>,
        p: usize,
        op: Request<Map>,
    ) -> impl Future<Output = Result<Result<u64, Broken>, Infallible>>;
    fn look(
        &self,
        process: &Process<Sim>,
        p: usize,
    ) -> impl Future<Output = Result<Result<Buffer, Broken>, Infallible>>;
    fn store(&self) -> &MayFail;
}

impl Usable for Universal<Sim, MayFail> {
    fn perform(
        &self,
        process: &Process<Sim>,
        p: usize,
        op: Request<Map>,
    ) -> impl Future<Output = Result<Result<u64, Broken>, Infallible>> {
        self.perform(process, p, op)
    }
    fn look(
        &self,
        process: &Process<Sim>,
        p: usize,
    ) -> impl Future<Output = Result<Result<Buffer, Broken>, Infallible>> {
        self.look(process, p)
    }
    fn store(&self) -> &MayFail {
        self.store()
    }
}

/// A machine whose processes call their operation, or look.
pub(crate) fn world<U: Usable>(
    sizes: Sizes,
    rules: Rules,
    build: impl FnOnce(&Site<'_, Sim>) -> U,
) -> Result<World, TextError> {
    World::of_programs(sizes.n, rules, build, |object: Rc<U>, p: Process<Sim>| async move {
        let here = p.on(crate::sim::Part::ROOT);
        let me = p.pid().index();
        let Ok(what) = here.at(0).choose(2).await;
        if what == 0 {
            let Ok(_) = object.perform(&p, me, Request(Some(map_of(p.pid())))).await;
            return;
        }
        here.invokes(MayFail::tag(&MayFail::nothing()));
        match object.look(&p, me).await {
            Ok(Ok(b)) => {
                here.shows("looks at", b);
                here.keep(26, &b);
                let Ok(value) = object.store().0.state(here.at(26), b).await;
                here.hides("looks at");
                here.responds(value);
            }
            Ok(Err(Broken)) => here.abandons(),
        }
    })
}

/// The shipped text, used like this.
pub(crate) fn shipped(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let (k, pool) = (sizes.k, Pool { remembers: true, ..Pool::least(sizes.k) });
    world(sizes, rules, |site| Universal::new(site, k, pool, MayFail::with(site, k, pool)))
}
