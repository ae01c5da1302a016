//! `doorway jobserver`, with clients that are installed everywhere: make, cargo and gcc.
//! `ci/jobserver-clients.sh` tries others.
#![cfg(target_os = "linux")]

use doorway::shared::{Builder, Previous, Slots};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A directory of the test's own, which is removed with it.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("doorway-jobserver-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Names are beside the build.
    fn slots(&self, name: &str, slots: usize) -> Slots {
        Builder::new(name, slots).directory(self.0.join("names")).open().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.arg("jobserver").args(args).env("DOORWAY_DIR", self.0.join("names")).current_dir(&self.0);
        for variable in ["MAKEFLAGS", "CARGO_MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
            command.env_remove(variable); // the tests may run under another make
        }
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Its output, if all went well.
    fn text(&self, args: &[&str]) -> String {
        let out = self.run(args);
        let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{args:?}: {:?} {text}{errors}", out.status);
        format!("{text}{errors}")
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A makefile with this many jobs. Each writes how many run beside it, at most.
    fn jobs(&self, jobs: usize) {
        let all: Vec<String> = (0..jobs).map(|job| format!("j{job}")).collect();
        // A directory counts: creating one is atomic, and it is empty again when all have ended.
        self.write(
            "Makefile",
            &format!(
                ".PHONY: all {all}\nall: {all}\n{all}:\n\t@mkdir -p now; mkdir now/$@$(BUILD); ls now | wc -l; sleep 0.05; rmdir now/$@$(BUILD)\n",
                all = all.join(" ")
            ),
        );
    }

    /// The largest number of jobs at the same time.
    fn most(text: &str) -> usize {
        text.split_whitespace().filter_map(|word| word.parse().ok()).max().unwrap_or(0)
    }

    fn is_clean(&self) {
        let left: Vec<_> =
            fs::read_dir(self.0.join("names")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        eprintln!("SKIPPED: there is no {program}");
    }
    there
}

fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn held(slots: &Slots) -> usize {
    slots.status().unwrap().holders.iter().filter(|holder| !holder.dead).count()
}

#[test]
fn clients_are_told_where_the_tokens_are() {
    let place = Place::new("told");
    let show = ["--", "sh", "-c", "echo \"$MAKEFLAGS\"; echo \"$CARGO_MAKEFLAGS\""];
    let fifo = place.text(&[&["-n", "3", "--style", "fifo"], &show[..]].concat());
    let lines: Vec<&str> = fifo.lines().collect();
    assert!(lines[0].starts_with("-j3 --jobserver-auth=fifo:/proc/"), "{fifo}");
    assert_eq!(lines[0], lines[1]);
    let pipe = place.text(&[&["-n", "3", "--style", "pipe"], &show[..]].concat());
    assert!(pipe.starts_with("-j3 --jobserver-fds="), "{pipe}");
    // An outer jobserver is not for the inner command.
    let mut inner = place.command(&[&["-n", "3", "--style", "fifo"], &show[..]].concat());
    let out = inner.env("MAKEFLAGS", "k -j9 --jobserver-auth=fifo:/nowhere -- A=1").output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("k -j3 --jobserver-auth=fifo:/proc/") && text.contains(" -- A=1\n"), "{text}");
    assert!(!text.contains("nowhere"), "{text}");
    place.is_clean();
}

#[test]
fn it_ends_as_its_command_does() {
    let place = Place::new("ends");
    let code = |args: &[&str]| place.run(args).status.code();
    assert_eq!(code(&["-n", "2", "--", "sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["-n", "2", "--", "sh", "-c", "kill -TERM $$"]), Some(128 + 15));
    assert_eq!(code(&["-n", "2", "--", "/nowhere/at/all"]), Some(127));
    assert_eq!(code(&["-n", "0", "--", "true"]), Some(125), "no slots");
    assert_eq!(code(&["-n", "2"]), Some(125), "no command");
    drop(place.slots("cores", 3));
    let out = place.run(&["-n", "2", "cores", "--", "true"]);
    assert_eq!(out.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&out.stderr).contains("3 slots"));
}

/// One token at a time, by a client that is a shell.
#[test]
fn bad_usage_is_no_exit_code_that_a_build_may_have() {
    let place = Place::new("usage");
    assert_eq!(place.run(&["--no-such-option"]).status.code(), Some(125));
    assert_eq!(place.run(&["--help"]).status.code(), Some(0));
}

#[test]
fn a_shell_can_take_tokens_and_give_them_back() {
    let place = Place::new("shell");
    for style in ["fifo", "pipe"] {
        // Takes both tokens, one after the other, and gives them back.
        let script = r#"
            auth=${MAKEFLAGS##*--jobserver-auth=}
            case $auth in
              fifo:*) exec 8<>"${auth#fifo:}" 9>&8 ;;
              *) exec 8<"/dev/fd/${auth%,*}" 9>"/dev/fd/${auth#*,}" ;;
            esac
            first=$(dd bs=1 count=1 <&8 2>/dev/null); second=$(dd bs=1 count=1 <&8 2>/dev/null)
            printf '%s%s\n' "$first" "$second"
            printf '%s%s' "$first" "$second" >&9"#;
        assert_eq!(place.text(&["-n", "3", "--style", style, "--", "sh", "-c", script]), "++\n", "{style}");
    }
    place.is_clean();
}

#[test]
fn make_runs_as_many_jobs_as_there_are_slots() {
    if !has("make") {
        return;
    }
    let place = Place::new("make");
    place.jobs(8);
    for jobs in ["1", "2", "4"] {
        let text = place.text(&["-n", jobs, "--", "make"]);
        assert!(Place::most(&text) <= jobs.parse().unwrap(), "{jobs}: {text}");
        assert!(!text.contains("warning"), "{text}");
    }
    // With a number of its own, make would ignore the jobserver; so it does not get it.
    let text = place.text(&["-n", "2", "--", "make", "-j8"]);
    assert!(Place::most(&text) <= 2 && !text.contains("warning"), "{text}");
    place.is_clean();
}

/// Waits for another job, which proves that jobs run at the same time.
#[test]
fn jobs_do_run_at_the_same_time() {
    if !has("make") {
        return;
    }
    let place = Place::new("company");
    let meet =
        "all: a b c\na b c:\n\t@mkdir -p now; touch now/$@; while [ $$(ls now | wc -l) -lt 3 ]; do sleep 0.01; done\n";
    place.write("Makefile", meet);
    place.text(&["-n", "3", "--", "make"]);
    fs::remove_dir_all(place.0.join("now")).unwrap();
    // And a make that runs other makes.
    place.write("Makefile", &format!("top:\n\t+$(MAKE) all\n{meet}"));
    place.text(&["-n", "3", "--", "make", "top"]);
    place.is_clean();
}

/// Promise (a): builds with one name have one limit.
#[test]
fn two_builds_share_one_limit() {
    if !has("make") {
        return;
    }
    let place = Place::new("share");
    place.jobs(6);
    let slots = place.slots("cores", 3);
    let builds: Vec<Child> = (0..2)
        .map(|build| {
            let build = format!("BUILD={build}");
            place.start(&["-n", "3", "cores", "--", "make", &build])
        })
        .collect();
    for build in builds {
        let out = build.wait_with_output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{text}{errors}");
        assert!(Place::most(&text) <= 3, "{text}");
    }
    until(|| held(&slots) == 0);
    let all = [(); 3].map(|()| slots.acquire().unwrap());
    assert!(all.iter().all(|next| *next.previous() == Previous::Clean), "tokens were given back: nobody died");
}

/// Promise (a), seen from outside: there are never more tokens than slots, and the slot of another
/// process is not touched.
#[test]
fn a_build_waits_for_slots_that_others_hold() {
    let place = Place::new("wait");
    let slots = place.slots("cores", 2);
    let (first, second) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut build = place.start(&["-n", "2", "cores", "--", "sh", "-c", "echo begun; read nothing"]);
    until(|| !slots.status().unwrap().waiters.is_empty());
    drop(first);
    let mut line = String::new();
    BufReader::new(build.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    assert!(build.wait().unwrap().code().is_some());
    drop(second);
    until(|| held(&slots) == 0);
}

/// A build that has all tokens, and does not end.
fn busy(place: &Place, style: &str, slots: &Slots) -> Child {
    let script = r#"
        auth=${MAKEFLAGS##*--jobserver-auth=}
        case $auth in
          fifo:*) exec 8<>"${auth#fifo:}" ;;
          *) exec 8<"/dev/fd/${auth%,*}" ;;
        esac
        dd bs=1 count=1 <&8 2>/dev/null; dd bs=1 count=1 <&8 2>/dev/null
        echo; echo $PPID $$
        exec sleep 1000"#;
    let mut build = place.start(&["-n", "3", "cores", "--style", style, "--orphans", "kill", "--", "sh", "-c", script]);
    let mut lines = BufReader::new(build.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "++");
    let numbers = lines.next().unwrap().unwrap();
    build.stdout = None;
    assert_eq!(numbers.split(' ').count(), 2);
    fs::write(place.0.join("guardian"), numbers.split(' ').next().unwrap()).unwrap();
    until(|| held(slots) == 3);
    build
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-KILL", "--", pid]).status().unwrap().success());
}

/// Promise (b): when the tree ends, or dies, or its guardian does, all tokens come back.
#[test]
fn all_tokens_come_back_with_the_build() {
    for style in ["fifo", "pipe"] {
        let place = Place::new(&format!("back-{style}"));
        let slots = place.slots("cores", 3);
        let mut build = busy(&place, style, &slots);
        build.kill().unwrap(); // the wrapper: the guardian kills the tree
        build.wait().unwrap();
        until(|| held(&slots) == 0);
        let mut build = busy(&place, style, &slots);
        kill(&fs::read_to_string(place.0.join("guardian")).unwrap());
        build.wait().unwrap();
        until(|| held(&slots) == 0);
    }
}

/// A build by make is killed in the middle.
#[test]
fn tokens_come_back_when_make_is_killed() {
    if !has("make") {
        return;
    }
    let place = Place::new("killed");
    let slots = place.slots("cores", 3);
    place.write("Makefile", "all: a b c\na b c:\n\t@echo $$PPID; exec sleep 1000\n");
    let mut build = place.start(&["-n", "3", "cores", "--orphans", "kill", "--", "make"]);
    let mut make = String::new();
    BufReader::new(build.stdout.as_mut().unwrap()).read_line(&mut make).unwrap();
    until(|| held(&slots) == 3);
    kill(make.trim());
    assert_eq!(build.wait().unwrap().code(), Some(128 + 9));
    until(|| held(&slots) == 0);
}

/// Promise (c): tokens of clients that died come back when no client is left.
#[test]
fn tokens_that_died_with_a_client_come_back_within_the_build() {
    let place = Place::new("lost");
    let slots = place.slots("cores", 3);
    let script = r#"
        path=${MAKEFLAGS##*--jobserver-auth=fifo:}
        sh -c 'exec 8<>"$0"; dd bs=1 count=1 <&8 2>/dev/null; dd bs=1 count=1 <&8 2>/dev/null; kill -KILL $$' "$path"
        echo; read nothing"#;
    let mut command = place.command(&["-n", "3", "cores", "--style", "fifo", "--", "sh", "-c", script]);
    let mut build = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    BufReader::new(build.stdout.as_mut().unwrap()).read_line(&mut text).unwrap();
    assert_eq!(text, "++\n");
    until(|| held(&slots) == 2); // one for the build, one for the token in the pipe
    drop(build.stdin.take());
    let mut errors = String::new();
    build.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("2 job tokens were lost"), "{errors}");
    build.wait().unwrap();
    until(|| held(&slots) == 0);
}

/// Promise (c), with cargo: it is killed with everything that it runs, and the build goes on
/// without it.
#[test]
fn tokens_that_died_with_cargo_come_back_within_the_build() {
    let place = Place::new("lost-cargo");
    let slots = place.slots("cores", 3);
    let crates = ["a", "b", "c"];
    let mut top = String::from("[package]\nname = \"top\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n");
    for name in crates {
        let about = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        place.write(&format!("{name}/Cargo.toml"), &about);
        place.write(&format!("{name}/src/lib.rs"), "");
        // A job that does not end.
        let begun = place.0.join(format!("begun-{name}"));
        let job =
            format!("fn main() {{ std::fs::write({begun:?}, \"\").unwrap(); loop {{ std::thread::park(); }} }}\n");
        place.write(&format!("{name}/build.rs"), &job);
        top += &format!("{name} = {{ path = \"{name}\" }}\n");
    }
    place.write("Cargo.toml", &(top + "[workspace]\n"));
    place.write("src/main.rs", "fn main() {}\n");
    let script =
        format!("setsid {} build --offline --target-dir target 2>/dev/null & echo $!; read nothing", env!("CARGO"));
    let mut command = place.command(&["-n", "3", "cores", "--style", "fifo", "--", "sh", "-c", &script]);
    let mut build = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut cargo = String::new();
    BufReader::new(build.stdout.as_mut().unwrap()).read_line(&mut cargo).unwrap();
    // One job runs without a token, and two with one.
    until(|| crates.iter().all(|name| place.0.join(format!("begun-{name}")).exists()));
    until(|| held(&slots) == 3);
    kill(&format!("-{}", cargo.trim()));
    until(|| held(&slots) == 2); // one for the build, one for the token in the pipe
    drop(build.stdin.take());
    let mut errors = String::new();
    build.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("2 job tokens were lost"), "{errors}");
    build.wait().unwrap();
    until(|| held(&slots) == 0);
}

/// Promise (d), with make: one of its recipes gives back tokens that it does not have, and there
/// are still no more jobs than slots.
#[test]
fn a_recipe_of_make_that_gives_back_too_much_is_noticed() {
    if !has("make") {
        return;
    }
    let place = Place::new("surplus-make");
    let slots = place.slots("cores", 3);
    place.jobs(8);
    let jobs = fs::read_to_string(place.0.join("Makefile")).unwrap();
    // It runs alone until the guardian has seen what it did.
    let faulty = "first:\n\t+@auth=$${MAKEFLAGS##*--jobserver-auth=}; auth=$${auth%% *}; \
                  printf ++++ >/dev/fd/$${auth#*,}; while [ ! -e seen ]; do sleep 0.01; done\n\t+@$(MAKE) all\n";
    place.write("Makefile", &format!("{faulty}{jobs}"));
    let mut build = place.start(&["-n", "3", "cores", "--style", "pipe", "--", "make", "-s", "first"]);
    let mut errors = BufReader::new(build.stderr.take().unwrap());
    let mut warning = String::new();
    errors.read_line(&mut warning).unwrap();
    assert!(warning.contains("more job tokens than it took"), "{warning}");
    place.write("seen", "");
    let out = build.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    errors.read_to_string(&mut warning).unwrap();
    assert!(out.status.success(), "{text}{warning}");
    assert!((1..=3).contains(&Place::most(&text)), "{text}");
    until(|| held(&slots) == 0);
}

/// The recipe has a slot, and needs another: with only one slot there is none.
#[test]
fn a_jobserver_inside_one_of_the_same_name_is_told() {
    if !has("make") {
        return;
    }
    let place = Place::new("inside");
    place.write("Makefile", "all:\n\t+@timeout 1 $(DOORWAY) jobserver -n 1 cores -- true\n");
    let doorway = format!("DOORWAY={}", env!("CARGO_BIN_EXE_doorway"));
    let out = place.run(&["-n", "1", "cores", "--", "make", &doorway]);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && errors.contains("inside a command that has one"), "{errors}");
}

/// Promise (d): surplus tokens are swallowed, with a warning.
#[test]
fn a_token_that_is_given_back_too_often_is_swallowed() {
    let place = Place::new("surplus");
    let script = r#"
        path=${MAKEFLAGS##*--jobserver-auth=fifo:}
        exec 8<>"$path"; printf ++++ >&8
        read nothing"#;
    let mut command = place.command(&["-n", "3", "--style", "fifo", "--", "sh", "-c", script]);
    let mut build = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut warning = String::new();
    BufReader::new(build.stderr.as_mut().unwrap()).read_line(&mut warning).unwrap();
    assert!(warning.contains("more job tokens than it took"), "{warning}");
    drop(build.stdin.take());
    build.wait().unwrap();
    place.is_clean();
}

/// Crates without dependencies, and one that depends on them all.
#[test]
fn cargo_builds_with_it() {
    let place = Place::new("cargo");
    let crates = ["a", "b", "c"];
    let mut top = String::from("[package]\nname = \"top\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n");
    for name in crates {
        place.write(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        );
        place.write(&format!("{name}/src/lib.rs"), "pub fn f() {}\n");
        top += &format!("{name} = {{ path = \"{name}\" }}\n");
    }
    place.write("Cargo.toml", &(top + "[workspace]\n"));
    place.write("src/main.rs", "fn main() { a::f(); b::f(); c::f(); println!(\"built\"); }\n");
    for style in ["fifo", "pipe"] {
        let slots = place.slots("cores", 2);
        let target = format!("target-{style}");
        let text = place.text(&[
            "-n",
            "2",
            "cores",
            "--style",
            style,
            "--",
            env!("CARGO"),
            "run",
            "--offline",
            "--target-dir",
            &target,
        ]);
        assert!(text.contains("built") && !text.contains("warning"), "{text}");
        until(|| held(&slots) == 0);
    }
}

/// gcc runs its parts by make, and asks for the jobserver by name.
#[test]
fn the_lto_of_gcc_builds_with_it() {
    if !has("gcc") || !has("make") {
        return;
    }
    let place = Place::new("lto");
    place.write("a.c", "int f(void); int main(void) { return f(); }\n");
    place.write("b.c", "int f(void) { return 0; }\n");
    place.write(
        "Makefile",
        "x: a.o b.o\n\t+gcc -O1 -flto=jobserver -flto-partition=1to1 $^ -o $@\n%.o: %.c\n\tgcc -O1 -flto -c $<\n",
    );
    let out = place.run(&["-n", "3", "--style", "pipe", "--", "make"]);
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    if text.contains("lto") && text.contains("not") && !out.status.success() {
        eprintln!("SKIPPED: this gcc has no LTO: {text}");
        return;
    }
    assert!(out.status.success() && place.0.join("x").exists(), "{text}");
    assert!(!text.contains("jobserver is not available") && !text.contains("warning"), "{text}");
}

#[test]
fn a_command_that_is_not_there_leaves_no_file_behind() {
    let place = Place::new("missing");
    for _ in 0..10 {
        assert_eq!(place.run(&["-n", "2", "--", "there-is-no-such-command"]).status.code(), Some(127));
    }
    place.is_clean();
}

#[test]
fn that_nobody_reads_what_is_said_does_not_end_the_build() {
    let place = Place::new("unread");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = place.command(&["--verbose", "-n", "2", "--", "sh", "-c", "sleep 0.3; exit 7"]);
    assert_eq!(command.stderr(writer).status().unwrap().code(), Some(7));
}
