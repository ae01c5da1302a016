//! The pages as doc tests: every block of Rust in them is compiled and run.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(
            #[doc = include_str!($path)]
            #[cfg(doctest)]
            pub struct $name;
        )*
    };
}

pages! {
    Readme "../README.md"
    Checking "checking.md"
    ComingFromAsyncLock "coming_from_async_lock.md"
    ComingFromTokio "coming_from_tokio.md"
    Operating "operating.md"
    Pools "pools.md"
    Processes "processes.md"
    Recipes "recipes.md"
    Resilient "resilient.md"
    Rooms "rooms.md"
    YourAlgorithm "your_algorithm.md"
}
