//! `lock!`: a lock from its variables, its entry section and its exit section.

/// A lock: its variables, its entry section and its exit section, and nothing else.
///
/// It becomes a struct over a [memory](crate::memory), with a function `new` that declares the
/// variables under their names, and an implementation of [`KExclusion`](crate::k_exclusion). Where
/// this form does not fit, write these by hand: the result is the same.
///
/// ```
/// use doorway_core::lock;
/// use doorway_core::k_exclusion::KExclusion;
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{Pid, Process, ReadWrite, Site};
///
/// lock! {
///     /// Peterson 1981.
///     pub struct Peterson: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
///     acquire(self, p) {
///         let (me, rival) = (p.pid().index(), 1 - p.pid().index());
///         p.at(1).write(&self.flag[me], true).await?;
///         p.at(2).write(&self.turn, Pid::new(rival)).await?;
///         p.spin_until(|| async {
///             let free = !p.at(3).read(&self.flag[rival]).await? || p.at(4).read(&self.turn).await? == p.pid();
///             Ok(free.then_some(()))
///         })
///         .await?;
///     }
///     release(self, p) {
///         p.at(5).write(&self.flag[p.pid().index()], false).await?;
///     }
/// }
///
/// let lock = Peterson::new(&Site::new(&Spinning));
/// let p = Process::new(Pid::new(0), Spinning);
/// now(lock.acquire(&p)).unwrap();
/// assert_eq!(format!("{:?}", lock.flag[0]), "true");
/// now(lock.release(&p, ())).unwrap();
/// assert_eq!(format!("{:?}", lock.flag[0]), "false");
/// ```
///
/// After the name come sizes, if there are any, and after the colon the instructions that the text
/// needs. [`ReadWrite`](crate::memory::ReadWrite) is enough for reads and writes; each other
/// instruction includes it. A variable has an initial value or a
/// [declaration](crate::memory::decl), and the variables of a row may have one each. If a passage
/// carries a value from its entry to its exit, `acquire` returns it:
///
/// ```
/// use doorway_core::lock;
/// use doorway_core::k_exclusion::KExclusion;
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{FetchAdd, Pid, Process, Site, decl};
///
/// lock! {
///     /// Anderson 1990: each process spins on a place of its own.
///     struct Places(n: usize): FetchAdd {
///         next: u64 = 0,
///         open: [bool; n] = for i { decl(i == 0) },
///     }
///     acquire(self, p) -> usize {
///         let place = p.at(1).fetch_add(&self.next, 1).await? as usize % self.n;
///         p.at(2).wait_until(&self.open[place], |open| open).await?;
///         p.at(3).write(&self.open[place], false).await?;
///         place
///     }
///     release(self, p, place) {
///         p.at(4).write(&self.open[(place + 1) % self.n], true).await?;
///     }
/// }
///
/// let lock = Places::new(&Site::new(&Spinning), 3);
/// let p = Process::new(Pid::new(0), Spinning);
/// let place = now(lock.acquire(&p)).unwrap();
/// now(lock.release(&p, place)).unwrap();
/// assert_eq!(format!("{:?}", lock.open[1]), "true");
/// ```
#[macro_export]
macro_rules! lock {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident $(( $($size:ident : $of:ty),* $(,)? ))? : $bound:ident $(+ $more:ident)*
        { $($vars:tt)* }
        acquire($this:ident, $p:ident) $(-> $held:ty)? $entry:block
        release($that:ident, $q:ident $(, $carried:pat)?) $exit:block
    ) => {
        $crate::lock! {
            @vars [$(#[$about])* $vis $name ($($($size: $of),*)?) ($bound $(+ $more)*)]
            site [] [] $($vars)*
        }

        impl<M: $bound $(+ $more)*> $crate::k_exclusion::KExclusion<M> for $name<M> {
            type Held = $crate::lock!(@held $($held)?);
            type Refusal = ::core::convert::Infallible;

            async fn acquire(
                &$this,
                $p: &$crate::memory::Process<M>,
            ) -> ::core::result::Result<Self::Held, $crate::Failure<M::Error>> {
                let $p = $p.on($this.part);
                ::core::result::Result::Ok($entry)
            }

            async fn release(
                &$that,
                $q: &$crate::memory::Process<M>,
                held: Self::Held,
            ) -> ::core::result::Result<(), M::Error> {
                let $q = $q.on($that.part);
                $crate::lock!(@carried held $($carried)?);
                $exit
                ::core::result::Result::Ok(())
            }
        }
    };

    (@held) => { () };
    (@held $held:ty) => { $held };
    (@carried $held:ident) => { let () = $held; };
    (@carried $held:ident $carried:pat) => { let $carried = $held; };

    // A row whose variables are declared one by one.
    (@vars $head:tt $site:ident [$($fields:tt)*] [$($made:tt)*]
     $var:ident : [$of:ty; $n:expr] = for $i:ident $each:block $(, $($rest:tt)*)?) => {
        $crate::lock! {
            @vars $head $site
            [$($fields)* #[doc = "A row of variables."] $var: M::Row<$of>,]
            [$($made)* $var: $site.row(::core::stringify!($var), $n, |$i| ::core::convert::Into::into($each)),]
            $($($rest)*)?
        }
    };
    // A row whose variables are declared alike.
    (@vars $head:tt $site:ident [$($fields:tt)*] [$($made:tt)*]
     $var:ident : [$of:ty; $n:expr] = $each:expr $(, $($rest:tt)*)?) => {
        $crate::lock! {
            @vars $head $site
            [$($fields)* #[doc = "A row of variables."] $var: M::Row<$of>,]
            [$($made)* $var: $site.row(::core::stringify!($var), $n, |_| ::core::convert::Into::into($each)),]
            $($($rest)*)?
        }
    };
    (@vars $head:tt $site:ident [$($fields:tt)*] [$($made:tt)*]
     $var:ident : $of:ty = $init:expr $(, $($rest:tt)*)?) => {
        $crate::lock! {
            @vars $head $site
            [$($fields)* #[doc = "A variable."] $var: M::Var<$of>,]
            [$($made)* $var: $site.var(::core::stringify!($var), $init),]
            $($($rest)*)?
        }
    };
    (@vars [$(#[$about:meta])* $vis:vis $name:ident ($($size:ident : $of:ty),*) ($($bound:tt)*)]
     $site:ident [$($fields:tt)*] [$($made:tt)*]) => {
        $(#[$about])*
        #[derive(Debug)]
        $vis struct $name<M: $crate::memory::Memory> {
            part: M::Part,
            $($size: $of,)*
            $($fields)*
        }

        impl<M: $($bound)*> $name<M> {
            /// Declares its variables.
            #[must_use]
            $vis fn new($site: &$crate::memory::Site<'_, M> $(, $size: $of)*) -> Self {
                Self { part: $site.here(), $($made)* $($size,)* }
            }
        }
    };
}
