//! The recipes of `docs/command.md`, read from there and run by a shell. Scripts stand in for the
//! programs that they name, except cargo and xargs, and pytest where it is installed.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

mod kit;

use doorway::shared::{Builder, Slots, Status};
use kit::run::{Place, eventually, kill, parent, told, touch};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command.md")).unwrap()
}

/// The code blocks of a text: the words after the three marks, and the lines.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    text.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect()
}

/// The recipe of this name.
fn recipe(name: &str) -> String {
    let page = page();
    let of_that_name = |(kind, _): &(&str, &str)| kind.split_once(" recipe ").is_some_and(|(_, found)| found == name);
    let found: Vec<_> = blocks(&page).into_iter().filter(of_that_name).collect();
    assert_eq!(found.len(), 1, "docs/command.md has one recipe {name}");
    found[0].1.to_owned()
}

/// The words of a screen, with those that differ from run to run made equal.
fn words(line: &str) -> Vec<String> {
    let process = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let time =
        |word: &str| word.strip_suffix('s').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let plain = |word: &str| match word {
        word if process(word) => "PID".to_owned(),
        word if time(word) => "TIME".to_owned(),
        word if word.starts_with('/') => format!("PLACE/{}", word.rsplit('/').next().unwrap_or_default()),
        word => word.to_owned(),
    };
    line.split_whitespace().map(plain).collect()
}

/// The first example of the README is what is printed, except for process numbers, times and the
/// place.
#[test]
fn the_first_screen_of_the_readme_is_what_is_printed() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (kind, screen) = blocks(&readme)[0];
    assert_eq!(kind, "text");
    let mut commands = screen.split("$ ").skip(1).map(|part| part.split_once('\n').unwrap());
    let ((start, started), (look, looked), end) = (commands.next().unwrap(), commands.next().unwrap(), commands.next());
    assert!(end.is_none() && screen.starts_with("$ "), "it shows two commands");
    let kitchen = Kitchen::new();
    kitchen.write(
        "train.py",
        "import os, time
print('training on GPU', os.environ['CUDA_VISIBLE_DEVICES'], flush=True)
while not os.path.exists('go'): time.sleep(0.01)",
    );
    let shell = kitchen
        .command(&format!("{start}\nwait"))
        .stdout(std::fs::File::create(kitchen.0.0.join("work/out")).unwrap())
        .spawn();
    let mut shell = shell.unwrap();
    let expected: Vec<String> = started.lines().map(str::to_owned).collect();
    eventually("they train", || kitchen.lines("out").len() == expected.len());
    eventually("the others wait", || kitchen.status("gpu").is_some_and(|status| status.waiters.len() == 2));
    assert_eq!(kitchen.lines("out"), expected);
    let (code, printed, said) = kitchen.cook(look);
    assert_eq!((code, said.as_str()), (0, ""));
    let lines = |text: &str| text.lines().map(words).collect::<Vec<_>>();
    assert_eq!(lines(&printed), lines(looked));
    touch(&kitchen.0.0.join("work/go"));
    assert!(shell.wait().unwrap().success());
    assert_eq!(kitchen.lines("out").len(), 6);
}

/// Only a command that ends well removes its mark, so the next one resets the GPU.
#[test]
fn a_job_that_failed_leaves_a_mark() {
    let kitchen = Kitchen::new();
    let train = recipe("mark");
    kitchen.program("nvidia-smi", "echo \"$@\" >>resets");
    for (ends, code, resets) in
        [("exit 0", 0, 0), ("exit 3", 3, 0), ("kill -9 $$", 137, 1), ("exit 0", 0, 2), ("exit 0", 0, 2)]
    {
        kitchen.program("python", ends);
        assert_eq!(kitchen.cook(&train).0, code, "{ends}");
        assert_eq!(kitchen.lines("resets"), vec!["--gpu-reset -i 0"; resets], "{ends}");
        assert_eq!(kitchen.has("gpu-0.busy"), code != 0, "{ends}");
    }
}

#[test]
fn every_recipe_of_the_page_is_run_here() {
    let page = page();
    let section = page.split("\n## ").find(|section| section.starts_with("Recipes\n")).unwrap();
    let recipes = blocks(section);
    assert!(recipes.len() >= 11);
    for (kind, text) in recipes {
        let (_, name) = kind.split_once(" recipe ").unwrap_or_else(|| panic!("no recipe: {text}"));
        assert!(include_str!("recipes.rs").contains(&format!("recipe(\"{name}\")")), "{name} is not run");
    }
    assert_eq!(page.matches(" recipe ").count(), blocks(section).len(), "they are all in one section");
}

/// A directory to cook in, with programs that stand in for others.
struct Kitchen(Place);

impl Kitchen {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir(place.0.join("bin")).unwrap();
        std::fs::create_dir(place.0.join("work")).unwrap();
        symlink(env!("CARGO_BIN_EXE_doorway"), place.0.join("bin/doorway")).unwrap();
        Self(place)
    }

    /// A program, as a script for the shell.
    fn program(&self, name: &str, script: &str) {
        let path = self.0.0.join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, recipe: &str) -> Command {
        let mut command = Command::new("sh");
        let path = format!("{}:{}", self.0.0.join("bin").display(), std::env::var("PATH").unwrap());
        command.args(["-c", recipe]).current_dir(self.0.0.join("work")).env("PATH", path);
        command.env("DOORWAY_DIR", &self.0.0).stdin(Stdio::null());
        command
    }

    /// Its exit code, its output, and its messages.
    fn cook(&self, recipe: &str) -> (i32, String, String) {
        told(self.command(recipe).output().unwrap())
    }

    fn start(&self, recipe: &str) -> Child {
        self.command(recipe).spawn().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.0.join("work").join(name), text).unwrap();
    }

    fn has(&self, name: &str) -> bool {
        self.0.0.join("work").join(name).exists()
    }

    /// The lines of a file, sorted.
    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.0.join("work").join(name)).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn slots(&self, name: &str, slots: usize) -> Slots {
        Builder::new(name, slots).directory(&self.0.0).open().unwrap()
    }

    /// The status of a name, as soon as a recipe uses it.
    fn status(&self, name: &str) -> Option<Status> {
        Builder::existing(name).directory(&self.0.0).open().ok()?.status().ok()
    }
}

/// Five jobs, of which four run at a time, each with its own GPU.
fn five_jobs_on_four_gpus(recipe: &str) {
    let kitchen = Kitchen::new();
    kitchen.program("nvidia-smi", "[ \"$*\" = -L ] && for i in 0 1 2 3; do echo \"GPU $i: a script\"; done");
    kitchen.program(
        "python",
        "gpu=$CUDA_VISIBLE_DEVICES
         [ \"$*\" = train.py ] && mkdir busy.$gpu || exit 1
         while [ ! -e go ]; do sleep 0.01; done
         rmdir busy.$gpu && echo $gpu >>done",
    );
    let mut jobs: Vec<Child> = (0..5).map(|_| kitchen.start(recipe)).collect();
    eventually("four run", || (0..4).all(|gpu| kitchen.has(&format!("busy.{gpu}"))));
    eventually("one waits", || kitchen.status("gpu").is_some_and(|status| status.waiters.len() == 1));
    touch(&kitchen.0.0.join("work/go"));
    assert!(jobs.iter_mut().all(|job| job.wait().unwrap().success()));
    assert_eq!(kitchen.lines("done").len(), 5);
}

#[test]
fn gpus() {
    five_jobs_on_four_gpus(&recipe("gpu"));
}

#[test]
fn as_many_as_there_are_gpus() {
    five_jobs_on_four_gpus(&recipe("gpu-count"));
}

#[test]
fn databases() {
    let kitchen = Kitchen::new();
    for program in ["dropdb", "createdb", "make"] {
        kitchen.program(program, &format!("echo {program} $* $DATABASE_URL"));
    }
    let all = |slot: usize| {
        let url = format!("postgres:///test_{slot}");
        format!("dropdb --if-exists test_{slot} {url}\ncreatedb test_{slot} {url}\nmake check {url}\n")
    };
    let recipe = recipe("database");
    assert_eq!(kitchen.cook(&recipe), (0, all(0), String::new()));
    let slots = kitchen.slots("testdb", 4);
    let _guard = slots.acquire().unwrap();
    assert_eq!(kitchen.cook(&recipe).1, all(1));
}

#[test]
fn ports() {
    let kitchen = Kitchen::new();
    kitchen.program("npm", "echo $* $PORT");
    let (digit, arithmetic) = (recipe("port"), recipe("ports"));
    assert_eq!(kitchen.cook(&digit).1, "test 9000\n");
    assert_eq!(kitchen.cook(&arithmetic).1, "test 9000\n");
    let (one, other) = (kitchen.slots("port", 10), kitchen.slots("ports", 50));
    let _guards = (one.acquire().unwrap(), other.acquire().unwrap());
    assert_eq!(kitchen.cook(&digit).1, "test 9001\n");
    assert_eq!(kitchen.cook(&arithmetic).1, "test 9010\n");
}

#[test]
fn one_download_at_a_time() {
    let kitchen = Kitchen::new();
    kitchen.program(
        "curl",
        "[ \"$1 $3\" = '-fsSo https://example.org/model.bin' ] || exit 2
         echo called >>calls; echo half >\"$2\"; [ ! -e unlucky ] || kill -9 $$; echo whole >\"$2\"",
    );
    let recipe = recipe("download");
    kitchen.write("unlucky", "");
    assert_ne!(kitchen.cook(&recipe).0, 0);
    assert!(kitchen.has("model.part") && !kitchen.has("model.bin"));
    std::fs::remove_file(kitchen.0.0.join("work/unlucky")).unwrap();
    let mut all: Vec<Child> = (0..3).map(|_| kitchen.start(&recipe)).collect();
    assert!(all.iter_mut().all(|one| one.wait().unwrap().success()));
    assert_eq!((kitchen.lines("calls").len(), kitchen.lines("model.bin")), (2, vec!["whole".to_owned()]));
}

/// The compiled program knows the variables of the compiler.
#[test]
fn a_limit_for_rustc() {
    let kitchen = Kitchen::new();
    kitchen.write("Cargo.toml", "[package]\nname = 'tiny'\nedition = '2021'\n[workspace]\n");
    std::fs::create_dir(kitchen.0.0.join("work/src")).unwrap();
    kitchen.write("src/main.rs", "fn main() { println!(\"{} {}\", env!(\"DOORWAY_NAME\"), env!(\"DOORWAY_SLOT\")); }");
    let mut command = kitchen.command(&recipe("rustc"));
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    let (code, _, said) = told(command.env("CARGO_NET_OFFLINE", "true").output().unwrap());
    assert_eq!(code, 0, "{said}");
    assert_eq!(kitchen.cook("target/debug/tiny").1, "rustc 0\n");
}

#[test]
fn xargs() {
    let kitchen = Kitchen::new();
    kitchen.program(
        "flac",
        "[ \"$1\" = --silent ] && mkdir busy.$DOORWAY_SLOT || exit 1
         echo \"$2\" >>done; echo $DOORWAY_SLOT >>slots; rmdir busy.$DOORWAY_SLOT",
    );
    let names: Vec<String> = (10..30).map(|number| format!("{number} of 30.wav")).collect();
    for name in &names {
        kitchen.write(name, "");
    }
    assert_eq!(kitchen.cook(&recipe("xargs")), (0, String::new(), String::new()), "no slot was given twice");
    assert_eq!(kitchen.lines("done"), names);
    assert!(kitchen.lines("slots").iter().all(|slot| ["0", "1", "2", "3"].contains(&slot.as_str())));
}

#[test]
fn pytest() {
    let kitchen = Kitchen::new();
    kitchen.write(
        "test_it.py",
        "import os\ndef test_it():\n    assert os.environ['PYTEST_XDIST_WORKER'].startswith('gw')\n    \
         open('ran', 'w').write(os.environ['TEST_DATABASE'])\n",
    );
    if kitchen.cook("pytest -n 1 --collect-only").0 != 0 {
        eprintln!("pytest with xdist is not here: a script stands in for it");
        kitchen.program("pytest", "[ \"$*\" = '-n 4' ] && echo $TEST_DATABASE >ran");
    }
    let (code, out, said) = kitchen.cook(&recipe("pytest"));
    assert_eq!(code, 0, "{out}{said}");
    assert_eq!(kitchen.lines("ran"), ["test_0"]);
}

/// The runner kills what it has started, and nothing else.
#[test]
fn a_step_that_is_cancelled_leaves_nothing_behind() {
    let kitchen = Kitchen::new();
    kitchen.program(
        "make",
        "setsid sleep 1000 >/dev/null 2>&1 & [ \"$*\" = integration ] && touch begun; exec sleep 1000",
    );
    let recipe = recipe("ci");
    let step = recipe.strip_prefix("- run: ").unwrap();
    let mut running = kitchen.start(step);
    eventually("it runs", || kitchen.has("begun"));
    let guardian = kitchen.status("integration").unwrap().holders[0].known.pid.unwrap();
    let sweeper = parent(guardian).unwrap();
    kill(parent(sweeper).unwrap(), libc::SIGKILL); // the wrapper
    running.wait().unwrap();
    kitchen.0.nobody_is_left();
    assert!(kitchen.status("integration").unwrap().holders.is_empty());
}

#[test]
fn cron() {
    let kitchen = Kitchen::new();
    kitchen.program("backup-everything", "touch ran");
    let line = recipe("cron");
    let command = line.strip_prefix("*/10 * * * * ").unwrap();
    let cook = || told(kitchen.command(command).env("HOME", &kitchen.0.0).env_remove("DOORWAY_DIR").output().unwrap());
    let slots = Builder::new(kitchen.0.0.join(".doorway/backup"), 1).open().unwrap();
    let guard = slots.acquire().unwrap();
    let (code, _, said) = cook();
    assert_eq!(code, 123, "{said}");
    assert!(said.contains("no slot of ") && !kitchen.has("ran"), "{said}");
    drop(guard);
    assert_eq!(cook(), (0, String::new(), String::new()));
    assert!(kitchen.has("ran"));
}
