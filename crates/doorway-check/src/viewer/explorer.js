// Drives a machine: which process moves next, what a torn read returns, which process crashes.
"use strict";

(() => {
  const { $, el, chip } = viewer;
  const GRAMMAR = `{{GRAMMAR}}`;
  let actions = []; // of the run in view, one for each step
  // The numbers of the last questions: only their answers count.
  let loads = 0, looks = 0;
  let searching = false;

  async function ask(question) {
    const answer = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
    const body = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(body.error || "the program does not answer"), body);
    return body;
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
    el("h2", {}, "What next?"),
    el("div", { id: "choices" }),
    el("div", { class: "bar" },
      el("button", { id: "undo", title: "Take the last step back (u)", onclick: () => undo() }, "Undo"),
      el("button", { id: "reset", title: "Begin anew", onclick: () => load("") }, "Begin anew")),
    el("form", { class: "bar", id: "seek" },
      el("input", { id: "predicate", placeholder: "X < 0 && p1@5", autocomplete: "off", spellcheck: "false", "aria-label": "A predicate to search for" }),
      el("button", { id: "search" }, "Search"),
      el("button", { type: "button", id: "grammar-button", title: "How to write a predicate", onclick: () => { $("grammar").hidden = !$("grammar").hidden; } }, "How?")),
    el("pre", { id: "grammar", hidden: true }, GRAMMAR),
    el("form", { class: "bar", id: "violation" }, claim, el("button", { id: "violate" }, "Search for a violation"),
      el("button", { type: "button", id: "stop", hidden: true, onclick: () => stop() }, "Stop")),
    el("form", { class: "bar", id: "come" },
      el("input", { id: "from", placeholder: "dw1/… or 0.1x3", autocomplete: "off", spellcheck: "false", "aria-label": "A token to start from" }),
      el("button", { id: "from-token" }, "Go to token")),
    el("p", { id: "says", role: "status" }));
  $("drive").hidden = false;
  document.querySelector("main").classList.add("driven");
  $("more-keys").append(el("dl", {},
    el("dt", {}, "0 … 9"), el("dd", {}, "this process takes its step"),
    el("dt", {}, "a, then 0 … 9"), el("dd", {}, "this process runs alone until it waits"),
    el("dt", {}, "c, then 0 … 9"), el("dd", {}, "this process crashes"),
    el("dt", {}, "u"), el("dd", {}, "undo"),
    el("dt", {}, "/"), el("dd", {}, "search")));
  claim.append(el("option", { value: "" }, "any claim"), ...viewer.record.claims.map((name) => el("option", { value: name }, name)));

  function drawChoices(next) {
    $("choices").replaceChildren(...next.map((choices, p) => {
      const row = el("div", { class: "choice", "data-process": p }, chip(p));
      const buttons = el("div", { class: "buttons" });
      const order = { step: 0, torn: 0, chooses: 0, wakes: 1, "gives up": 2, restart: 3, crash: 4 };
      for (const choice of choices.toSorted((a, b) => order[a.kind] - order[b.kind])) {
        const plain = { crash: "crash", "gives up": "give up", restart: "restart" }[choice.kind];
        buttons.append(el("button", { class: `act ${choice.kind.replace(" ", "-")}`, "data-action": choice.action, title: choice.text, onclick: () => choose(choice.action) },
          plain && choice.kind !== "restart" && choice.text.length > 26 ? plain : choice.kind === "crash" ? "crash" : choice.text));
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
    const lasso = from == null ? {} : { repeats_from: Number(from), property };
    const answer = await ask({ ask: "at", run, ...lasso });
    if (mine !== loads) return;
    looks++;
    actions = answer.record.steps.map((moved) => moved.action);
    const at = step ?? actions.length;
    const wanted = `#run=${answer.run}${from == null ? "" : `&from=${from}&property=${property}`}&step=${at}`;
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
    searching = true;
    $("stop").hidden = false;
    say("Searching…");
    try {
      const answer = await ask({ ask: "search", run: runOf(actions.slice(0, viewer.step)), ...goal });
      if (answer.run != null) await load(answer.run, viewer.step, answer.repeats_from, answer.property);
      say(answer.says + (answer.run != null ? " → steps along it." : ""));
    } catch (error) {
      if (error.at != null) {
        $("predicate").focus();
        $("predicate").setSelectionRange(error.at, error.at + 1);
      }
      throw error;
    } finally {
      searching = false;
      $("stop").hidden = true;
    }
  });
  // More than once: the first may arrive before the search does.
  const stop = guarded(async () => {
    while (searching) {
      await ask({ ask: "stop" });
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
  for (let p = 0; p < 10; p++) {
    viewer.keys[p] = () => {
      const row = document.querySelector(`.choice[data-process="${p}"]`);
      const wanted = { a: ".alone", c: ".crash" }[prefix] || ".act:not(.crash)";
      prefix = null;
      row?.querySelector(wanted)?.click();
    };
  }
  // Any other key ends it.
  addEventListener("keydown", (event) => { if (!/^[ac0-9]$/.test(event.key)) prefix = null; }, true);
  viewer.keys.a = () => { prefix = "a"; };
  viewer.keys.c = () => { prefix = "c"; };
  viewer.keys.u = undo;
  viewer.keys.Backspace = undo;
  viewer.keys["/"] = () => $("predicate").focus();
  for (const id of ["predicate", "from"]) $(id).addEventListener("keydown", (event) => event.key === "Escape" && $(id).blur());

  // The token of the step that is shown, not of the whole run.
  viewer.token.of = async (step) => step === actions.length ? viewer.record.token
    : (await ask({ ask: "at", run: runOf(actions.slice(0, step)) })).record.token;
  viewer.onStep(guarded(choicesAt));
  addEventListener("popstate", () => {
    const { run, step, from, property } = viewer.hash();
    if (run != null && run !== runOf(actions)) load(run, step == null ? undefined : Number(step), from, property);
  });

  const { run, step, from, property: broken } = viewer.hash();
  const begin = viewer.record.steps.map((moved) => moved.action);
  load(run ?? runOf(begin), step == null ? undefined : Number(step), from, broken);
})();
