#!/usr/bin/env bash
# Measures what many waiting `doorway run -n 1` behind one holder cost: the CPU time of all their
# processes in 20 seconds, with standard error to nowhere and to a terminal; how soon the next one
# runs when the holder is killed; how long all others take to run one after the other. Then it runs
# 1,000 short commands with four slots. The arguments are numbers of waiters, by default 60 250
# 1000. DOORWAY names another binary. Exit code 0 if every command ran. Takes four minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${DOORWAY:-}" ] || cargo build --quiet --release -p doorway-cli
directory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$directory"' EXIT
uname -sr
DOORWAY_DIR=$directory python3 - "$directory" "${DOORWAY:-target/release/doorway}" "${@:-60 250 1000}" <<'PYTHON'
import json, os, pty, subprocess, sys, threading, time

directory, doorway = sys.argv[1], os.path.abspath(sys.argv[2])
sizes = [int(size) for word in sys.argv[3:] for size in word.split()]
SECONDS = 20

def run(name, slots, seats, *command, **how):
    words = [doorway, "run", "-n", str(slots), name, "--seats", str(seats), "--", *command]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **how)

def children(process):
    try:
        return [int(word) for word in open(f"/proc/{process}/task/{process}/children").read().split()]
    except FileNotFoundError:
        return []

def cpu(processes):
    """Seconds of these processes and their guardians. Ticks would be too coarse: each runs for less than one."""
    nanoseconds = 0
    for process in processes:
        for each in [process, *children(process)]:
            for task in os.listdir(f"/proc/{each}/task"):
                nanoseconds += int(open(f"/proc/{each}/task/{task}/schedstat").read().split()[0])
    return nanoseconds / 1e9

def drain(terminal):
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass # it is closed

def status(name):
    return json.loads(subprocess.check_output([doorway, "status", name, "--json"]))["files"][0]

def measure(waiting, terminal):
    name, seats = f"w{waiting}{'t' if terminal else ''}", -(-(waiting + 2) // 64) * 64
    holder = run(name, 1, seats, "sleep", "1000")
    begun, done = f"{directory}/{name}.begun", f"{directory}/{name}.done"
    while not children(holder.pid) or not children(children(holder.pid)[0]):
        time.sleep(0.01)
    # Each command writes that it ran; the file that the first one makes shows when it ran.
    script = f"echo >{begun}; echo >>{done}"
    words = f"'{doorway}' run -n 1 {name} --seats {seats} -- sh -c '{script}'"
    start = ["sh", "-c", f"i=0; while [ $i -lt {waiting} ]; do {words} </dev/null & i=$((i+1)); done; wait"]
    if terminal:
        shell, ours = pty.fork()
        if shell == 0:
            os.execvp(start[0], start)
        threading.Thread(target=drain, args=[ours], daemon=True).start()
    else:
        shell = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
    while len(status(name)["waiters"]) < waiting:
        time.sleep(0.2)
    time.sleep(2)
    waiters = children(shell)
    before, began = cpu(waiters), time.monotonic()
    time.sleep(SECONDS)
    share = 100 * (cpu(waiters) - before) / (time.monotonic() - began)
    guardian = children(holder.pid)[0]
    for process in [holder.pid, guardian, *children(guardian)]:
        os.kill(process, 9)
    killed = time.monotonic()
    while not os.path.exists(begun):
        time.sleep(0.0002)
    noticed = time.monotonic() - killed
    os.waitpid(shell, 0)
    drained = time.monotonic() - killed
    holder.wait()
    ran = sum(1 for _ in open(done))
    where = "a terminal" if terminal else "nowhere"
    print(f"{waiting:7}  {where:10}{share:9.2f} %{1000 * noticed:14.1f} ms{drained:12.1f} s{ran:9}", flush=True)
    return ran == waiting

print("waiting  errors to  of a core  next one runs       all ran      ran")
fine = all([measure(waiting, terminal) for waiting in sizes for terminal in (False, True)])

began = time.monotonic()
commands = [run("short", 4, 1024, "true", stderr=subprocess.DEVNULL) for _ in range(1000)]
failed = sum(command.wait() != 0 for command in commands)
print(f"1000 times `true` with 4 slots: {time.monotonic() - began:.1f} s, {failed} failed")
sys.exit(0 if fine and failed == 0 else 1)
PYTHON
