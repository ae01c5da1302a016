// Shows a recorded run: lanes, processes, variables, claims and sources, at one step at a time.
"use strict";

const viewer = (() => {
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 22; // pixels of one step in the lanes
  const TICK_MS = 450; // between two steps of a playing run
  const MANY = 12; // with more processes, those that never step are left out
  const STRIP = 132; // the most pixels that the overview is high
  const CHARACTER = 6.7; // pixels of one in the lanes

  let record = null;
  let step = 0;
  let file = 0; // the source in view
  let playing = null;
  let overviewX = null; // where a step is in the overview
  let laneOf = null; // where the lane of a process is
  let meaning = null; // of each claim, as far as the sources say it
  const listeners = [];

  /* Building blocks */

  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    return filled(node, attributes, children);
  }
  function svg(tag, attributes = {}, ...children) {
    return filled(document.createElementNS(SVG, tag), attributes, children);
  }
  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value == null) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child != null && child !== ""));
    return node;
  }
  const colour = (p) => `var(--p${p % 8})`;
  const chip = (p, at) => el("span", { class: "chip", style: `background:${colour(p)}` }, at == null ? `p${p}` : `p${p}@${at}`);
  // A few characters stay on one line.
  const code = (text) => el("code", { class: text.length < 22 ? "short" : null }, text);
  const place = (at) => (at.part ? `${at.part}.` : "") + at.statement;

  /* The state after a number of steps */

  function stateAt(upTo) {
    const vars = record.vars.map((v) => v.initially);
    const places = record.start.slice();
    const cost = record.start.map(() => [0, 0]);
    for (const moved of record.steps.slice(0, upTo)) {
      for (const [v, value] of moved.changed) vars[v] = value;
      for (const [p, now] of moved.places) places[p] = now;
      cost[moved.process] = cost[moved.process].map((sum, i) => sum + moved.cost[i]);
    }
    const last = record.steps[upTo - 1];
    return { vars, places, cost, half: (last && last.half) || [], claims: last ? last.claims : record.claims_at_start };
  }

  /* Intervals of each process: where it is inside, waits, or is dead, from state to state */

  function intervals(p) {
    let at = record.start[p];
    const kinds = [kindOf(at)];
    for (const moved of record.steps) {
      for (const [q, now] of moved.places) if (q === p) at = now;
      kinds.push(kindOf(at));
    }
    const found = [];
    kinds.forEach((kind, i) => {
      const last = found[found.length - 1];
      if (last && last.kind === kind) last.to = i;
      else found.push({ kind, from: i, to: i });
    });
    return found;
  }
  function kindOf(at) {
    if (at.crashed || at.dying || at.panicked) return "dead";
    if (at.section === "inside") return "inside";
    if (at.asleep || at.waits) return "waits";
    return at.section;
  }

  // The processes that are shown: all, or of many those that step, and others up to a dozen.
  function shown() {
    const all = record.start.map((_, p) => p);
    if (all.length <= MANY) return all;
    const steps = new Set(record.steps.map((moved) => moved.process));
    const others = all.filter((p) => !steps.has(p)).slice(0, Math.max(0, MANY - steps.size));
    return all.filter((p) => steps.has(p) || others.includes(p));
  }
  // The others, in words; none of them takes a step.
  function leftOut() {
    const here = new Set(shown()), rest = record.start.map((_, p) => p).filter((p) => !here.has(p));
    const ranges = [];
    for (const p of rest) {
      const last = ranges[ranges.length - 1];
      if (last && last[1] === p - 1) last[1] = p;
      else ranges.push([p, p]);
    }
    const words = ranges.map(([from, to]) => from === to ? `p${from}` : to === from + 1 ? `p${from}, p${to}` : `p${from} … p${to}`);
    return rest.length ? `${words.join(", ")}: no step in this run` : "";
  }

  /* The lanes: time goes down, one lane for each process */

  function mark(moved) {
    return { crash: "×", restart: "↻", "gives up": "↩", wakes: "☼" }[moved.kind] || String(moved.statement);
  }

  function drawLanes() {
    const box = $("lanes");
    const here = shown(), n = here.length;
    const arc = record.repeats_from == null ? 0 : 26;
    const gutter = 34 + arc;
    const lane = Math.max(46, Math.floor((Math.max(box.clientWidth, 200) - gutter - 4) / n));
    const width = gutter + lane * n;
    const height = (record.steps.length + 1) * ROW + 10;
    const y = (s) => s * ROW + ROW / 2; // of the state after s steps, between two rows
    const left = new Map(here.map((p, i) => [p, gutter + lane * i]));
    const middle = (p) => left.get(p) + 17;
    const picture = svg("svg", { width, height, role: "img", "aria-label": "Steps of each process, from the top down" });
    picture.append(svg("rect", { id: "ahead", x: 0, y: height, width, height }),
      svg("rect", { class: "current", id: "current-row", x: 0, y: -ROW, width, height: ROW }));
    for (const p of here) {
      for (const { kind, from, to } of intervals(p)) {
        const top = from === 0 ? 0 : y(from), bottom = to === record.steps.length ? height : y(to + 1);
        if (kind === "dead") continue;
        if (kind === "inside") {
          picture.append(svg("rect", { class: "inside", x: left.get(p) + 3, y: top, width: lane - 8, height: bottom - top, rx: 5, fill: colour(p), opacity: .2 }));
        }
        const style = { remainder: "1 5", waits: "2 3" }[kind];
        const thick = { remainder: 1, inside: 4, waits: 2 }[kind] || 2;
        picture.append(svg("line", { x1: middle(p), x2: middle(p), y1: top, y2: bottom, stroke: colour(p), "stroke-width": thick, "stroke-dasharray": style, opacity: kind === "remainder" ? .5 : 1 }));
      }
    }
    record.steps.forEach((moved, i) => {
      const p = moved.process, s = i + 1, at = y(s);
      const sign = mark(moved), wide = Math.max(20, 8 + 7 * sign.length);
      const bad = moved.kind === "crash", torn = moved.kind === "torn";
      const full = !moved.waits && !torn;
      const fill = bad ? "var(--bad)" : torn ? "var(--half)" : full ? colour(p) : "var(--paper)";
      const row = svg("g", { class: "row", "data-step": s, onclick: () => go(s) },
        svg("rect", { class: "hit", x: 0, y: at - ROW / 2, width, height: ROW }),
        svg("title", {}, describe(moved, s)),
        svg("rect", { class: "under", x: middle(p) - wide / 2, y: at - 8, width: wide, height: 16, rx: 8 }),
        svg("rect", { class: "pill", x: middle(p) - wide / 2, y: at - 8, width: wide, height: 16, rx: 8, fill, stroke: bad ? "var(--bad)" : colour(p), "stroke-width": 1.5, "stroke-dasharray": torn ? "3 2" : null }),
        svg("text", { class: "stmt", x: middle(p), y: at + 4, style: `fill:${full || bad ? "var(--on)" : torn ? "var(--ink)" : colour(p)}` }, sign));
      const room = Math.floor((lane - 17 - wide / 2 - 9) / CHARACTER);
      const did = moved.did || `→ ${moved.now || ""}`;
      if (room > 7) {
        row.append(svg("text", { x: middle(p) + wide / 2 + 5, y: at + 4 }, did.length > room ? `${did.slice(0, room - 1)}…` : did,
          moved.part && did.length + moved.part.length < room ? svg("tspan", { class: "part" }, ` ${moved.part}`) : ""));
      }
      picture.append(row);
    });
    // The numbers stay in view when the lanes move sideways.
    const numbers = svg("g", { id: "numbers" }, svg("rect", { x: arc, y: 0, width: gutter - arc - 2, height }),
      ...record.steps.map((_, i) => svg("text", { class: "num", x: gutter - 6, y: y(i + 1) + 4, "data-step": i + 1 }, String(i + 1))));
    picture.append(numbers);
    const follow = () => {
      numbers.setAttribute("transform", `translate(${box.scrollLeft ? box.scrollLeft - arc : 0},0)`);
      numbers.classList.toggle("moved", box.scrollLeft > 0);
    };
    box.onscroll = follow;
    follow();
    if (record.repeats_from != null) picture.append(loop(y(record.repeats_from) + ROW / 2, y(record.steps.length), 22));
    box.replaceChildren(
      el("div", { class: "heads", style: `width:${width}px` }, el("i", { style: `width:${gutter}px` }),
        ...here.map((p) => el("span", { style: `width:${lane}px;color:${colour(p)}` }, `p${p}`))),
      picture, leftOut() ? el("p", { class: "left-out" }, leftOut()) : "");
    laneOf = (p) => ({ left: left.get(p), width: lane, gutter });
  }

  // The arc from the end of a run back to the step from which it repeats.
  function loop(top, bottom, right) {
    const left = 6;
    const end = Math.max(bottom, top + 4);
    return svg("g", { id: "loop" },
      svg("title", {}, `repeats for ever from step ${record.repeats_from + 1}: ${record.why_fair.join(", ")}`),
      svg("path", { d: `M${right} ${end} C${left - 8} ${end} ${left - 8} ${top} ${right} ${top}`, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }),
      svg("path", { d: `M${right + 5} ${top} l-8 -5 l0 10 z`, fill: "var(--accent)" }));
  }

  /* The overview: the whole run from left to right */

  function drawOverview() {
    const box = $("overview");
    const here = shown(), n = here.length, steps = Math.max(1, record.steps.length);
    const width = Math.max(200, box.clientWidth), lane = Math.min(13, STRIP / n), left = 30;
    const height = n * lane + 8;
    const middleOf = new Map(here.map((p, i) => [p, 4 + lane * i + lane / 2]));
    const x = (s) => left + (width - left - 8) * s / steps;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "slider", "aria-label": "The whole run", "aria-valuemin": 0, "aria-valuemax": record.steps.length });
    for (const [p, middle] of middleOf) {
      // Where there is no room for all names, the first and the last are there.
      const at = lane >= 11 ? middle + 4 : p === here[0] ? 12 : p === here[n - 1] ? height - 4 : null;
      if (at != null) picture.append(svg("text", { x: 4, y: at, style: `fill:${colour(p)}` }, `p${p}`));
      for (const { kind, from, to } of intervals(p)) {
        if (kind === "dead") continue;
        const until = Math.min(to + 1, steps);
        if (kind === "inside") picture.append(svg("rect", { x: x(from), y: middle - lane / 2 + lane / 13, width: Math.max(2, x(until) - x(from)), height: lane * 11 / 13, fill: colour(p), opacity: .35 }));
        picture.append(svg("line", { x1: x(from), x2: x(until), y1: middle, y2: middle, stroke: colour(p), "stroke-width": (kind === "remainder" ? .6 : 1.6) * Math.min(1, lane / 5), "stroke-dasharray": kind === "waits" ? "2 2" : null, opacity: kind === "remainder" ? .5 : 1 }));
      }
    }
    record.steps.forEach((moved, i) => {
      const bad = moved.kind === "crash";
      picture.append(svg("circle", { cx: x(i + 1), cy: middleOf.get(moved.process), r: bad ? 3.5 : Math.min(3, Math.max(1.2, (x(1) - x(0)) / 3)), fill: bad ? "var(--bad)" : colour(moved.process) }));
    });
    if (record.repeats_from != null) {
      picture.append(svg("rect", { x: x(record.repeats_from), y: height - 3, width: Math.max(3, x(steps) - x(record.repeats_from)), height: 3, fill: "var(--accent)" }));
    }
    picture.append(svg("line", { id: "playhead", y1: 0, y2: height, stroke: "var(--ink)", "stroke-width": 1.5 }));
    const seek = (event) => {
      const within = (event.clientX - picture.getBoundingClientRect().left) * width / picture.getBoundingClientRect().width;
      go(Math.round((within - left) / (width - left - 8) * steps));
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      seek(event);
    });
    picture.addEventListener("pointermove", (event) => event.buttons && seek(event));
    overviewX = x;
    box.replaceChildren(picture);
  }

  /* What one state shows */

  function describe(moved, s) {
    const where = moved.did || moved.kind !== "step" ? `${place(moved)}: ` : "";
    return `${s}. p${moved.process} ${where}${moved.did || `→ ${moved.now || "on"}`}${moved.waits ? ", waits" : ""}`;
  }

  function drawNow(state) {
    const moved = record.steps[step - 1];
    if (!moved) return $("now").replaceChildren("The start. ", record.steps.length ? "→ takes the first step." : "");
    const changes = moved.changed.map(([v, value]) => `${record.vars[v].name} = ${value}`);
    if (moved.now) changes.push(`p${moved.process} ${moved.now === "remainder" ? "done" : moved.now === "entry" ? "begins" : moved.now}`);
    const loops = record.repeats_from != null && step > record.repeats_from ? ` · step ${step - record.repeats_from} of the ${record.steps.length - record.repeats_from} that repeat for ever` : "";
    $("now").replaceChildren(chip(moved.process), " ", el("code", {}, place(moved)), ` ${moved.did || `→ ${moved.now || "on"}`}`,
      moved.waits ? ", and waits" : "",
      changes.length ? el("span", { class: "mono" }, ` ⇒ ${changes.join("; ")}`) : "", loops);
  }

  function drawProcesses(state) {
    const moved = record.steps[step - 1];
    const here = new Set(shown());
    const rows = state.places.map((at, p) => {
      if (!here.has(p)) return "";
      const what = el("div", { class: "what" });
      const name = at.dying ? "dead, not noticed yet" : at.crashed ? "crashed" : at.panicked ? "panicked" : at.statement == null ? "done" : at.section === "remainder" ? "outside" : at.section;
      what.append(el("span", { class: `section ${at.crashed || at.dying || at.panicked ? "crashed" : at.section}` }, name));
      if (at.statement != null && !at.dying && (at.section !== "remainder" || at.crashed || at.panicked)) what.append(" at ", el("code", {}, place(at)));
      if (!at.crashed && !at.panicked && at.asleep) what.append(", sleeps");
      if (at.waits) {
        const on = at.waits.map((v) => `${record.vars[v].name} = ${state.vars[v]}`).join(", ");
        what.append(", waits", on ? " on " : "", code(on));
      } else if (at.next && !at.crashed && !at.dying && !at.panicked) {
        what.append(", next: ", code(at.next));
      }
      if (at.panicked) what.append(`: ${at.panicked}`);
      const [cc, dsm] = state.cost[p];
      return el("div", { class: `process${moved && moved.process === p ? " moved" : ""}`, "data-process": p }, chip(p), what,
        el("div", { class: "cost", title: "remote references so far" }, `CC ${cc} · DSM ${dsm}`));
    });
    const list = $("process-list");
    list.classList.toggle("many", here.size > MANY);
    list.replaceChildren(...rows, leftOut() ? el("p", { class: "left-out" }, leftOut()) : "");
    const current = moved && list.querySelector(".moved");
    if (current && here.size > MANY) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 3;
    const fair = $("fair");
    fair.hidden = record.repeats_from == null;
    if (!fair.hidden) {
      fair.replaceChildren(el("b", {}, `Repeats for ever from step ${record.repeats_from + 1}. `),
        record.why_fair.length ? `It is fair: ${record.why_fair.join("; ")}.` : "");
    }
  }

  function drawVariables(state) {
    const moved = record.steps[step - 1];
    const before = step > 0 ? stateAt(step - 1).vars : state.vars;
    const changed = new Set((moved ? moved.changed : []).map(([v]) => v));
    const used = new Set(record.steps.flatMap((m) => m.changed.map(([v]) => v)).concat(record.steps.flatMap((m) => (m.half || []).map((h) => h.var))));
    const many = record.vars.length > 24;
    $("all-label").hidden = !many;
    const shown = record.vars.map((v, i) => i).filter((i) => !many || $("all").checked || used.has(i));
    $("variable-list").replaceChildren(...shown.map((i) => {
      const variable = record.vars[i];
      const writes = state.half.filter((half) => half.var === i);
      const title = [variable.home == null ? "" : `in the memory of p${variable.home}`, variable.register === "atomic" ? "" : `${variable.register} register`, variable.private ? "private" : ""].filter(Boolean).join(", ");
      return el("div", { class: `variable${changed.has(i) ? " changed" : ""}${writes.length ? " half" : ""}`, title: title || null, "data-name": variable.name },
        el("span", { class: "name" }, `${variable.name} = `),
        changed.has(i) ? el("span", { class: "old" }, before[i]) : "", changed.has(i) ? " " : "",
        el("b", {}, state.vars[i]),
        ...writes.map((half) => el("span", { class: "writes" }, `half-written: p${half.process} writes ${half.value}`)));
    }));
    if (!shown.length) $("variable-list").replaceChildren(el("span", { class: "name" }, "none has changed"));
  }

  // What the sources say of each claim: "//! - (I2) X = j - …", and the lines that continue it.
  function meanings() {
    const found = {};
    for (const source of record.sources) {
      let name = null;
      for (const line of source.text.split("\n")) {
        const begins = line.match(/^\/\/! - (.*?)\((\w+)\):? (.*)/);
        const goes = line.match(/^\/\/!   (\S.*)/);
        if (begins && begins[1].length < 12) {
          name = begins[2];
          found[name] ??= begins[1] + begins[3];
        } else if (goes && name) found[name] += ` ${goes[1]}`;
        else name = null;
      }
    }
    for (const key of Object.keys(found)) found[key] = found[key].replaceAll("`", "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    return found;
  }

  // A claim that something can happen is about all runs: one state can show it, and none refutes it.
  function canHappen(i) {
    const letters = [record.claims_at_start, ...record.steps.map((moved) => moved.claims)].map((all) => all[i]);
    if (letters[step] === "!") return "so here";
    const before = letters.lastIndexOf("!", step);
    return before < 0 ? "not so yet" : before === 0 ? "so at the start" : `so at step ${before}`;
  }

  function drawClaims(state) {
    $("claims").hidden = record.claims.length === 0;
    meaning ??= meanings();
    const kinds = { "+": ["yes", "true here"], "-": ["no", "false here"], ".": ["runs", "about whole runs: not judged in one state"] };
    $("claim-list").replaceChildren(...record.claims.map((name, i) => {
      const can = "!?".includes(state.claims[i]);
      const [kind, title] = can ? ["can", `something that must be possible in some run; ${canHappen(i)}, which is no failure`] : kinds[state.claims[i]] || kinds["."];
      const means = Object.hasOwn(meaning, name) ? `${name}: ${meaning[name]}` : `${name}: ${title}`;
      return el("button", { class: `claim ${kind}${state.claims[i] === "!" ? " here" : ""}`, title: `${title}; ${means}`, "data-claim": name, onclick: () => { $("meaning").textContent = means; } },
        name, can ? el("span", { class: "when" }, ` ${canHappen(i)}`) : "");
    }));
  }

  /* The sources */

  let drawnFile = null;
  function drawFile() {
    const source = record.sources[file];
    if (drawnFile === source) return;
    drawnFile = source;
    const lines = source && source.text ? source.text.replace(/\n$/, "").split("\n") : [];
    $("lines").replaceChildren(...lines.map((text, i) => {
      const code = el("span", {});
      const parts = text.split(/(\bat\(\w+\))/);
      parts.forEach((part, j) => code.append(j % 2 ? el("b", {}, part) : part));
      return el("div", { class: `line${text.startsWith("//!") ? " doc" : ""}`, "data-line": i + 1 }, el("span", { class: "n" }, String(i + 1)), el("span", { class: "who" }), code);
    }));
    if (!lines.length) $("lines").replaceChildren(el("div", { class: "line" }, "The source is not here."));
  }

  function drawSource(state, follow) {
    $("source").hidden = record.sources.length === 0;
    const moved = record.steps[step - 1];
    const first = state.places.find((at) => at.line);
    const target = (moved && moved.line) || (first && first.line) || [0, 1];
    if (follow) file = target[0];
    $("files").replaceChildren(...record.sources.map((source, i) => el("button", { role: "tab", "aria-selected": String(i === file), title: source.name, onclick: () => { file = i; drawSource(stateAt(step), false); } }, source.name.split("/").slice(-2).join("/"))));
    drawFile();
    for (const who of $("lines").querySelectorAll(".who")) if (who.firstChild) who.replaceChildren();
    for (const line of $("lines").querySelectorAll(".done")) line.classList.remove("done");
    const lineAt = (n) => $("lines").querySelector(`[data-line="${n}"]`);
    if (moved && moved.line && moved.line[0] === file) lineAt(moved.line[1])?.classList.add("done");
    const here = new Map(); // the processes at each line, first the one that moved
    state.places.forEach((at, p) => {
      if (!at.line || at.line[0] !== file) return;
      if (!here.has(at.line[1])) here.set(at.line[1], []);
      here.get(at.line[1])[moved && moved.process === p ? "unshift" : "push"](p);
    });
    for (const [n, processes] of here) {
      const who = lineAt(n)?.querySelector(".who");
      const fit = processes.length > 4 ? 3 : 4;
      who?.append(...processes.slice(0, fit).map((p) => chip(p, state.places[p].statement)));
      if (processes.length > 4) who?.append(el("span", { class: "more", title: processes.map((p) => `p${p}`).join(" ") }, `+${processes.length - fit}`));
    }
    const goal = target[0] === file && lineAt(target[1]);
    const pane = $("lines");
    if (goal && follow) {
      const top = goal.offsetTop - pane.offsetTop;
      if (top < pane.scrollTop + 20 || top > pane.scrollTop + pane.clientHeight - 40) pane.scrollTop = top - pane.clientHeight / 3;
    }
  }

  function draw(follow = true) {
    const state = stateAt(step);
    $("number").value = step;
    $("total").textContent = record.steps.length;
    for (const id of ["first", "back"]) $(id).disabled = step === 0;
    for (const id of ["last", "forward"]) $(id).disabled = step === record.steps.length;
    drawNow(state);
    drawProcesses(state);
    drawVariables(state);
    drawClaims(state);
    drawSource(state, follow);
    const row = $("current-row");
    row.setAttribute("y", step === 0 ? -ROW : step * ROW);
    $("ahead").setAttribute("y", (step + 1) * ROW);
    for (const other of $("lanes").querySelectorAll("[data-step]")) other.classList.toggle("ahead", Number(other.dataset.step) > step);
    const lanes = $("lanes"), top = step * ROW + 24;
    const moved = record.steps[step - 1];
    if (moved) {
      const { left, width, gutter } = laneOf(moved.process);
      if (left < lanes.scrollLeft + gutter || left + width > lanes.scrollLeft + lanes.clientWidth) lanes.scrollLeft = left - gutter;
    }
    if (top < lanes.scrollTop + 60 || top > lanes.scrollTop + lanes.clientHeight - 40) lanes.scrollTop = top - lanes.clientHeight / 2;
    $("playhead").setAttribute("x1", overviewX(step));
    $("playhead").setAttribute("x2", overviewX(step));
    $("overview").firstChild.setAttribute("aria-valuenow", step);
  }

  /* Moving */

  // A step of the run, whatever the address says.
  const within = (at) => Math.min(Math.max(0, Math.trunc(Number(at)) || 0), record.steps.length);
  // Where a token comes from.
  const token = { of: async () => record.token };
  function go(to, keepPlaying = false) {
    if (!keepPlaying) pause();
    step = within(to);
    history.replaceState(null, "", `#${new URLSearchParams({ ...hash(), step }).toString().replaceAll("%2C", ",")}`);
    draw();
    listeners.forEach((listener) => listener(step));
  }
  const hash = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  function pause() {
    clearInterval(playing);
    playing = null;
    $("play").textContent = "▶";
    $("play").setAttribute("aria-label", "Play");
  }
  function play() {
    if (playing) return pause();
    if (step === record.steps.length) go(record.repeats_from ?? 0);
    $("play").textContent = "‖";
    $("play").setAttribute("aria-label", "Pause");
    playing = setInterval(() => {
      const end = step >= record.steps.length;
      if (end && record.repeats_from == null) return pause();
      go(end ? record.repeats_from + 1 : step + 1, true); // a lasso goes round
    }, TICK_MS);
  }

  const KEYS = {
    ArrowRight: () => go(step + 1), ArrowDown: () => go(step + 1),
    ArrowLeft: () => go(step - 1), ArrowUp: () => go(step - 1),
    PageDown: () => go(step + 10), PageUp: () => go(step - 10),
    Home: () => go(0), End: () => go(record.steps.length),
    " ": play, "?": () => $("help").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input:not([type=checkbox]), textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.key === " " && event.target.matches?.("button, [type=checkbox]")) return;
    const act = KEYS[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  $("first").onclick = KEYS.Home;
  $("last").onclick = KEYS.End;
  $("back").onclick = KEYS.ArrowLeft;
  $("forward").onclick = KEYS.ArrowRight;
  $("play").onclick = play;
  $("help-button").onclick = KEYS["?"];
  $("all").onchange = () => draw(false);
  $("number").onchange = () => go(parseInt($("number").value, 10));
  $("number").onkeydown = (event) => event.key === "Enter" && $("number").blur();
  addEventListener("hashchange", () => {
    const to = Number(hash().step ?? step);
    if (to !== step) go(to);
  });
  let resized = null;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(redraw, 60);
  });

  function redraw() {
    drawLanes();
    drawOverview();
    draw();
  }

  function drawHeader() {
    $("title").textContent = record.title;
    document.title = record.title;
    $("about").textContent = record.about;
    const verdict = $("verdict");
    verdict.hidden = !record.property && !record.token;
    if (record.property) {
      const [name, breaks] = record.property;
      verdict.replaceChildren(el("span", {}, breaks ? "This run breaks " : "This run does not break ", el("b", { class: breaks ? "bad" : "" }, name), "."));
    } else {
      verdict.replaceChildren();
    }
    if (record.token) {
      const shown = el("code", { id: "token" }, record.token);
      const copy = el("button", { id: "copy", onclick: async () => {
        shown.textContent = await token.of(step);
        navigator.clipboard?.writeText(shown.textContent);
        getSelection().selectAllChildren(shown);
      } }, "Copy token");
      verdict.append(copy, " ", shown);
    }
  }

  /* Shows a record at a step */
  function show(what, at) {
    record = what;
    drawnFile = meaning = null;
    step = within(at);
    drawHeader();
    redraw();
  }

  return { show, go, hash, token, el, chip, $, keys: KEYS, onStep: (listener) => listeners.push(listener), get record() { return record; }, get step() { return step; } };
})();

const embedded = JSON.parse(document.getElementById("record").textContent);
if (embedded) viewer.show(embedded, Number(viewer.hash().step ?? 0));
