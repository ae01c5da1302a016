// Drives a machine: which process moves next, what a torn read returns, which process crashes.
"use strict";

(() => {
  const { $, el, chip } = viewer;
  const GRAMMAR = `{{GRAMMAR}}`;
  let actions = []; // of the run in view, one for each step
  let shownRun = null; // the same, as the address writes it
  // The numbers of the last questions: only their answers count.
  let loads = 0, looks = 0;
  let searching = null; // the name of this tab's search

  async function ask(question) {
    const answer = await posted(JSON.stringify(question));
    const body = await answer.json().catch(() => ({ error: `the program answers ${answer.status}` }));
    if (!answer.ok) throw Object.assign(new Error(body.error || "the program does not answer"), body);
    return body;
  }
  // Where many strangers connect at the same time, a connection of this page may be lost.
  async function posted(body, more = 2) {
    try {
      return await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    } catch {
      if (!more) throw new Error("The program does not answer: has it ended?");
      await new Promise((later) => setTimeout(later, 100));
      return posted(body, more - 1);
    }
  }
  const runOf = (list) => list.join(".");

  function say(text, bad = false) {
    $("says").textContent = text;
    $("says").classList.toggle("bad", bad);
  }
  const guarded = (act) => async (...args) => {
    try {
      await act(...args);
    } catch (error) {
      say(error.message, true);
    }
  };

  /* The panel */

  const claim = el("select", { id: "property", "aria-label": "A claim" });
  $("drive").append(
    el("h2", {}, el("span", {}, "What next?"),
      el("button", { id: "undo", title: "Take the last step back (u)", onclick: () => undo() }, "Undo"),
      el("button", { id: "reset", title: "Begin anew", onclick: () => load("") }, "Begin anew")),
    el("div", { id: "choices" }),
    el("form", { class: "bar", id: "seek" },
      el("input", { id: "predicate", placeholder: "X < 0 && p1@5", autocomplete: "off", spellcheck: "false", "aria-label": "A predicate to search for" }),
      el("button", { id: "search" }, "Search"),
      el("button", { type: "button", id: "grammar-button", title: "How to write a predicate", onclick: () => { $("grammar").hidden = !$("grammar").hidden; } }, "How?")),
    el("div", { id: "grammar", hidden: true }, ...GRAMMAR.split("\n").flatMap((line) => {
      const [code, means] = line.split(/ {2,}/);
      return [el("code", {}, code), el("span", {}, means)];
    })),
    el("form", { class: "bar", id: "violation" }, claim, el("button", { id: "violate" }, "Search for a violation"),
      el("button", { type: "button", id: "stop", hidden: true, onclick: () => stop() }, "Stop")),
    el("form", { class: "bar", id: "come" },
      el("input", { id: "from", placeholder: "dw1/… or 0.1x3", autocomplete: "off", spellcheck: "false", "aria-label": "A token to start from" }),
      el("button", { id: "from-token" }, "Go to token")),
    el("p", { id: "says", role: "status" }));
  $("drive").hidden = false;
  document.querySelector("main").classList.add("driven");
  $("more-keys").append(el("dl", {},
    el("dt", {}, "0 … 9"), el("dd", {}, "this process takes its step; of 12 and more, both digits, or one and Enter"),
    el("dt", {}, "a, then 0 … 9"), el("dd", {}, "this process runs alone until it waits"),
    el("dt", {}, "c, then 0 … 9"), el("dd", {}, "this process crashes; with g it gives up, with r another starts in its place"),
    el("dt", {}, "t, then Enter"), el("dd", {}, "the next result of a torn read, or the next choice"),
    el("dt", {}, "u"), el("dd", {}, "undo"),
    el("dt", {}, "/"), el("dd", {}, "search")));
  const canHappen = viewer.record.claims.filter((_, i) => "!?".includes(viewer.record.claims_at_start[i]));
  const options = (names) => names.map((name) => el("option", { value: name }, name));
  claim.append(el("option", { value: "" }, "any claim"), ...options(viewer.record.claims.filter((name) => !canHappen.includes(name))),
    canHappen.length ? el("optgroup", { label: "Claims that something can happen" }, ...options(canHappen)) : "");
  claim.onchange = () => { $("violate").textContent = canHappen.includes(claim.value) ? "Search for a state" : "Search for a violation"; };

  function drawChoices(next) {
    $("choices").classList.toggle("many", next.length > 8);
    $("choices").replaceChildren(...next.map((choices, p) => {
      const row = el("div", { class: "choice", "data-process": p }, chip(p));
      const buttons = el("div", { class: "buttons" });
      const order = { step: 0, torn: 0, chooses: 0, wakes: 1, "gives up": 2, restart: 3, crash: 4 };
      for (const choice of choices.toSorted((a, b) => order[a.kind] - order[b.kind])) {
        // With hints, a death wakes one of several sleepers.
        const wakes = choice.text.match(/wakes sleeper \d+/);
        const plain = { crash: wakes ? `crash, ${wakes[0]}` : "crash", "gives up": "give up" }[choice.kind];
        buttons.append(el("button", { class: `act ${choice.kind.replace(" ", "-")}`, "data-action": choice.action, title: choice.text, onclick: () => choose(choice.action) },
          plain && (choice.kind === "crash" || choice.text.length > 26) ? plain : choice.text));
      }
      if (choices.some((choice) => ["step", "torn", "chooses"].includes(choice.kind))) {
        buttons.append(el("button", { class: "alone", title: `p${p} runs alone until it waits, is inside, or is done`, onclick: () => alone(p) }, "alone"));
      }
      if (!choices.length) buttons.append(el("span", { class: "none" }, "no step"));
      row.append(buttons);
      return row;
    }));
    $("undo").disabled = viewer.step === 0;
  }

  /* Moving */

  // Shows a run, at one of its steps.
  const load = guarded(async (run, step, from, property) => {
    const mine = ++loads;
    const whole = { ...(from == null ? {} : { repeats_from: Number(from) }), ...(property == null ? {} : { property }) };
    const answer = await ask({ ask: "at", run, ...whole });
    if (mine !== loads) return;
    looks++;
    actions = answer.record.steps.map((moved) => moved.action);
    shownRun = answer.run;
    const at = step ?? actions.length;
    const wanted = `#run=${answer.run}${from == null ? "" : `&from=${from}`}${property == null ? "" : `&property=${property}`}&step=${at}`;
    if (location.hash !== wanted) history.pushState(null, "", wanted);
    viewer.show(answer.record, at);
    if (at === actions.length) drawChoices(answer.next);
    else await choicesAt(at);
  });
  async function choicesAt(step) {
    const mine = ++looks;
    const answer = await ask({ ask: "next", run: runOf(actions.slice(0, step)) });
    if (mine === looks) drawChoices(answer.next);
  }
  const choose = (action) => {
    say("");
    return load(runOf([...actions.slice(0, viewer.step), action]));
  };
  const undo = () => viewer.step > 0 && load(runOf(actions.slice(0, viewer.step - 1)));
  const alone = guarded(async (p) => {
    const answer = await ask({ ask: "alone", run: runOf(actions.slice(0, viewer.step)), process: p });
    await load(answer.run);
    say(`p${p} took ${answer.steps} step${answer.steps === 1 ? "" : "s"} alone: ${answer.why}.`);
  });

  /* Searching */

  const search = guarded(async (goal) => {
    if (searching) return;
    searching = `${Date.now()}-${Math.random()}`;
    $("stop").hidden = false;
    say("Searching…");
    try {
      const answer = await ask({ ask: "search", search: searching, run: runOf(actions.slice(0, viewer.step)), ...goal });
      if (answer.run != null) await load(answer.run, viewer.step, answer.repeats_from, answer.property);
      say(answer.says + (answer.run != null ? " → steps along it." : ""));
    } catch (error) {
      if (error.at != null) {
        $("predicate").focus();
        $("predicate").setSelectionRange(error.at, error.at + 1);
      }
      throw error;
    } finally {
      searching = null;
      $("stop").hidden = true;
    }
  });
  // More than once: the first may arrive before the search does.
  const stop = guarded(async () => {
    while (searching) {
      await ask({ ask: "stop", search: searching });
      await new Promise((later) => setTimeout(later, 200));
    }
  });
  $("seek").onsubmit = (event) => {
    event.preventDefault();
    search({ predicate: $("predicate").value });
  };
  $("violation").onsubmit = (event) => {
    event.preventDefault();
    search({ property: claim.value });
  };
  $("come").onsubmit = guarded(async (event) => {
    event.preventDefault();
    const answer = await ask({ ask: "token", token: $("from").value });
    await load(answer.run, undefined, answer.repeats_from, answer.property);
    say("This is the position of the token.");
  });

  /* Keys */

  let prefix = null; // "a" or "c", if it was pressed just before
  let digits = ""; // of a process whose number may go on
  // Keys that come faster than answers have their effects one after the other.
  let typed = Promise.resolve();
  const inTurn = (act) => { typed = typed.then(act); };
  function pick(p) {
    const wanted = { a: ".alone", c: ".crash", g: ".gives-up", r: ".restart" }[prefix] || ".act:not(.crash)";
    prefix = null;
    digits = "";
    inTurn(() => {
      const button = document.querySelector(`.choice[data-process="${p}"]`)?.querySelector(wanted);
      if (!button) return say(`p${p} cannot do that here.`, true);
      return button.dataset.action == null ? alone(p) : choose(button.dataset.action);
    });
  }
  for (let digit = 0; digit < 10; digit++) {
    viewer.keys[digit] = () => {
      digits += digit;
      // With more than ten processes, 1 may be the beginning of 12.
      if (digits !== "0" && Number(digits) * 10 < viewer.record.processes) say(`p${digits}… (Enter: p${digits})`);
      else pick(Number(digits));
    };
  }
  // Enter ends a number, and any other key forgets it.
  addEventListener("keydown", (event) => {
    if (/^[0-9]$/.test(event.key)) return;
    if (event.key === "Enter" && digits) {
      event.preventDefault();
      event.stopPropagation();
      return pick(Number(digits));
    }
    if (digits) say("");
    prefix = null;
    digits = "";
  }, true);
  // Among several results of a torn read, the next one.
  viewer.keys.t = () => {
    const torn = [...document.querySelectorAll("#choices .torn, #choices .chooses")];
    if (!torn.length) return say("There is nothing to choose here.", true);
    torn[(torn.indexOf(document.activeElement) + 1) % torn.length].focus();
  };
  viewer.keys.a = () => { prefix = "a"; };
  viewer.keys.c = () => { prefix = "c"; };
  viewer.keys.g = () => { prefix = "g"; };
  viewer.keys.r = () => { prefix = "r"; };
  viewer.keys.u = viewer.keys.Backspace = () => inTurn(undo);
  viewer.keys["/"] = () => $("predicate").focus();
  for (const id of ["predicate", "from"]) $(id).addEventListener("keydown", (event) => event.key === "Escape" && $(id).blur());

  // The token of the step that is shown, not of the whole run.
  viewer.token.of = async (step) => step === actions.length ? viewer.record.token
    : (await ask({ ask: "at", run: runOf(actions.slice(0, step)) })).record.token;
  viewer.onStep(guarded(choicesAt));
  addEventListener("popstate", () => {
    const { run, step, from, property } = viewer.hash();
    if (run == null) return;
    if (run === shownRun) loads++; // one is here already: an answer on its way would lead elsewhere
    else load(run, step == null ? undefined : Number(step), from, property);
  });

  const { run, step, from, property: broken } = viewer.hash();
  const begin = viewer.record.steps.map((moved) => moved.action);
  load(run ?? runOf(begin), step == null ? undefined : Number(step), from, broken);
})();
