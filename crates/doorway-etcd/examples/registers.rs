//! The papers' algorithms over etcd registers: a demonstration, and nothing for production.
//!
//! The texts of `doorway-core` are generic over their memory. Here a variable is a key, and each
//! access is one round trip: a remote reference that can be counted at the server.
//!
//! ```sh
//! cargo run --example registers -- http://127.0.0.1:2379
//! ```

use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::danek_10::{KBakery, Order};
use doorway_core::memory::{Access, Decl, Memory, Name, Next, Pid, Process, ReadWrite, Site, Word};
use doorway_core::mutex::lamport_74::Bakery;
use etcd_client::{Client, Error};
use std::cell::Cell as Count;
use std::ops::{Deref, Index, Range};
use std::rc::Rc;
use std::time::Duration;

/// Registers in etcd. Every process has a connection of its own.
#[derive(Clone)]
struct Registers {
    client: Client,
    prefix: Rc<str>,
    variables: Rc<Count<usize>>,
    trips: Rc<Count<u64>>,
}

/// A variable: a key. Without one it has its initial value.
#[derive(Debug)]
struct Register<T> {
    key: String,
    init: T,
}

#[derive(Debug)]
struct Alone<T>(Register<T>);

impl<T> Deref for Alone<T> {
    type Target = Register<T>;
    fn deref(&self) -> &Register<T> {
        &self.0
    }
}

#[derive(Debug)]
struct Row<T> {
    first: usize,
    columns: usize,
    registers: Vec<Register<T>>,
}

impl<T> Index<usize> for Row<T> {
    type Output = Register<T>;
    fn index(&self, i: usize) -> &Register<T> {
        &self.registers[i]
    }
}

impl<T> Index<(usize, usize)> for Row<T> {
    type Output = Register<T>;
    fn index(&self, (row, column): (usize, usize)) -> &Register<T> {
        &self.registers[(row - self.first) * self.columns + column]
    }
}

impl Registers {
    fn register<T: Word>(&self, name: &'static str, init: T) -> Register<T> {
        let number = self.variables.replace(self.variables.get() + 1);
        Register { key: format!("{}/{name}.{number}", self.prefix), init }
    }

    fn counts(&self) {
        self.trips.set(self.trips.get() + 1);
    }
}

impl Memory for Registers {
    type Error = Error;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Register<T>;
    type Var<T: Word> = Alone<T>;
    type Row<T: Word> = Row<T>;
    type Group<T: Word, const N: usize> = Row<T>;
    type Table<T: Word> = Row<T>;
    type Wait = ();
    const PLENTY: usize = 64;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, name: Name<()>, decl: Decl<'_, T>) -> Alone<T> {
        Alone(self.register(name.name, decl.init))
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        let register = |i| {
            let (name, decl) = decl(i);
            self.register(name.name, decl.init)
        };
        Row { first: 0, columns: 1, registers: (0..n).map(register).collect() }
    }

    fn group<'a, T: Word, const N: usize>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        self.row(n, decl)
    }

    fn table<T: Word>(&self, name: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Row<T> {
        let registers = (0..rows.len() * columns).map(|_| self.register(name.name, decl.init)).collect();
        Row { first: rows.start, columns, registers }
    }

    fn wait_begins(&self, _: Pid) {}

    async fn turn_failed(&self, _: Pid, (): &mut (), _: bool) -> Result<Next, Error> {
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok(Next::TryAgain)
    }
}

impl ReadWrite for Registers {
    async fn read<T: Word>(&self, _: Access<()>, v: &Register<T>) -> Result<T, Error> {
        self.counts();
        let found = self.client.clone().get(v.key.as_str(), None).await?;
        let word = found.kvs().first().and_then(|kv| kv.value_str().ok()?.parse().ok());
        Ok(word.map_or(v.init, T::unpack))
    }

    async fn write<T: Word>(&self, _: Access<()>, v: &Register<T>, x: T) -> Result<(), Error> {
        self.counts();
        self.client.clone().put(v.key.as_str(), x.pack().to_string(), None).await?;
        Ok(())
    }

    async fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut (),
        abortable: bool,
        _: &Register<T>,
        _: T,
    ) -> Result<Next, Error> {
        self.turn_failed(pid, wait, abortable).await
    }
}

/// Passages of these processes at the same time. Returns round trips a passage, and the most that
/// were inside.
async fn passes<A: KExclusion<Registers> + 'static>(
    text: Rc<A>,
    memories: &[Registers],
    passages: u64,
) -> (f64, usize) {
    let (inside, most) = (Rc::new(Count::new(0)), Rc::new(Count::new(0)));
    let before: u64 = memories.iter().map(|memory| memory.trips.get()).sum();
    let tasks: Vec<_> = (0..memories.len())
        .map(|i| {
            let p = Process::new(Pid::new(i), memories[i].clone());
            let (text, inside, most) = (text.clone(), inside.clone(), most.clone());
            tokio::task::spawn_local(async move {
                for _ in 0..passages {
                    let Ok(held) = text.acquire(&p).await else { panic!("etcd does not answer") };
                    inside.set(inside.get() + 1);
                    most.set(most.get().max(inside.get()));
                    tokio::task::yield_now().await;
                    inside.set(inside.get() - 1);
                    text.release(&p, held).await.expect("etcd answers");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    let after: u64 = memories.iter().map(|memory| memory.trips.get()).sum();
    ((after - before) as f64 / (passages * memories.len() as u64) as f64, most.get())
}

async fn run(endpoint: &str, n: usize) -> Result<(), Error> {
    let mut memories = Vec::new();
    let variables = Rc::new(Count::new(0));
    let prefix: Rc<str> = format!("registers/{}-{n}", std::process::id()).into();
    for _ in 0..n {
        let client = Client::connect([endpoint], None).await?;
        let trips = Rc::new(Count::new(0));
        memories.push(Registers { client, prefix: prefix.clone(), variables: variables.clone(), trips });
    }
    let site = Site::new(&memories[0]);
    let bakery = Rc::new(Bakery::new(&site, n));
    let k_bakery = Rc::new(KBakery::new(&site, n, 2, Order::KFirstCome));
    let show = |name: &str, who: &str, (trips, most): (f64, usize)| {
        println!("{name:<22} N = {n:<3} {who:<9} {trips:>7.1} round trips a passage, {most} inside at most");
    };
    let alone = &memories[..1];
    show("Bakery (1974)", "alone", passes(bakery.clone(), alone, 5).await);
    show("Bakery (1974)", "together", passes(bakery, &memories, 3).await);
    show("k-Bakery, k = 2 (2010)", "alone", passes(k_bakery.clone(), alone, 5).await);
    show("k-Bakery, k = 2 (2010)", "together", passes(k_bakery, &memories, 3).await);
    Ok(())
}

fn main() -> Result<(), Error> {
    let endpoint = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:2379".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        for n in [2, 4, 8] {
            run(&endpoint, n).await?;
        }
        Ok(())
    })
}
