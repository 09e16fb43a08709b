// The page of `steelyard active label`. The text of documents only ever becomes text nodes.

import { draw, percent } from "./plot.js";
import { client, post, read, who } from "./server.js";
import { bounded, isAllRead, since, verdict } from "./verdict.js";

const at = (id) => document.getElementById(id);
const RETRY = 1000, REFRESH = 5000;
const KEYS = "123456789abdefgijklmopqrtvwxz";  // for classes; c, h, s and u do other things, y and n are for two
const FORMATS = { ris: "RIS", "label-studio": "Label Studio", prodigy: "Prodigy" };
let about, shown = null, current = null, busy = false, waiting = null, foreseen = null;

function made(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Does one thing at a time. While the server does not answer, the same request is made again: nothing is lost.
async function act(work, then) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    for (;;) {
      try {
        const found = await work();
        banner(null);
        then(found);
        return;
      } catch (error) {
        if (error.refused) { banner(error.message); return; }
        banner("The server does not answer. This page keeps trying; every confirmed answer is stored.");
        await new Promise((done) => setTimeout(done, RETRY));
      }
    }
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

function banner(text) {
  at("banner").textContent = text ?? "";
  at("banner").hidden = text === null;
}

const say = (text) => { at("status").textContent = text; };

// The document

function show(question, { earlier = false, all = false } = {}) {
  shown = question;
  if (!earlier) current = question;
  const texts = at("texts");
  texts.replaceChildren();
  at("return").hidden = !earlier;
  at("badge").hidden = true;
  at("legend").hidden = true;
  at("others").hidden = true;
  for (const button of document.querySelectorAll("#classes button, #skip")) button.disabled = question === null;
  if (question === null) {
    at("document-title").textContent = "Nothing to label now";
    const why = all ? "Every document has been read. Save the labels."
      : "Every question within the budget is answered, or open in another page. Raise the budget, try for a certificate, or save the labels.";
    texts.append(made("div", { class: "field" }, made("p", {}, why)));
    return;
  }
  at("document-title").textContent = `Document ${question.id}`;
  question.texts.forEach(([name, pieces], k) => {
    const paragraph = made("p", { dir: "auto" });
    for (const [text, level] of pieces) {
      if (level === 0) paragraph.append(text);
      else paragraph.append(made("mark", { class: level > 0 ? "for" : "against", "data-level": Math.abs(level) }, text));
    }
    const several = question.texts.length > 1;
    const kind = several ? (k === 0 ? "field lead" : "field body") : "field";
    texts.append(made("div", { class: kind }, ...(several ? [made("h3", {}, name)] : []), paragraph));
  });
  at("legend").hidden = !texts.querySelector("mark");
  at("legend-positive").textContent = question.marked_for;
  at("others").replaceChildren(...question.others.flatMap(([name, value]) => [made("dt", {}, name), made("dd", {}, value)]));
  at("others").hidden = question.others.length === 0;
  const badge = question.labelled ? `you said: ${question.label ?? "skipped"}` : question.purpose === "certify" ? "for the certificate" : null;
  at("badge").textContent = badge ?? "";
  at("badge").hidden = badge === null;
  at("badge").classList.toggle("own", question.labelled);
  document.querySelectorAll("#classes button").forEach((button, k) =>
    button.setAttribute("aria-pressed", String(question.labelled && question.label === about.classes[k])));
  at("document").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

const follow = (found) => { show(found.question, { all: isAllRead(about, found) }); update(found); };

function answer(label) {
  if (shown === null) return;
  const { item } = shown, known = shown.labelled;
  act(() => post("label", { item, label }), (found) => {
    follow(found);
    say(`${label === null ? "Skipped" : `Labelled ${label}`}${known ? ", changed" : ""}. ${found.labelled} label${found.labelled === 1 ? "" : "s"}.`);
  });
}

const undo = () => act(() => post("undo"), (found) => {
  const again = found.question.labelled;  // the earlier answer counts again, and need not be given once more
  show(found.question, { earlier: again });
  update(found);
  say(again ? "Undone. Your earlier answer counts again." : "Undone. The document is back.");
});

function back() {
  act(() => read("recent"), (found) => {
    const index = found.findIndex((each) => shown && each.item === shown.item);
    const target = found[index + 1];
    if (target) open(target.item); else say("There is no earlier document.");
  });
}

function open(item) {
  setTimeout(() => act(() => read("document", { item }), (found) => show(found, { earlier: true })));
}

function forward() { if (current !== shown) show(current); }

// Progress

function update(state) {
  at("labelled").textContent = state.labelled.toLocaleString("en");
  const budget = state.budget.toLocaleString("en");  // with labels that nobody asked for, there may be more
  at("of-budget").textContent = state.labelled > state.budget ? `labels, budget ${budget}` : `of ${budget} labels`;
  if (document.activeElement !== at("budget")) at("budget").value = state.budget;
  at("progress").max = state.budget;
  at("progress").value = Math.min(state.labelled, state.budget);
  at("undo").disabled = at("earlier").disabled = state.mine === 0;
  const rows = about.classes.map((name, k) => [name, state.counts[k]]);
  if (state.skipped) rows.push(["skipped", state.skipped]);
  rows.push(["documents in all", about.documents]);
  at("tally").tBodies[0].replaceChildren(...rows.map(([name, count], k) =>
    made("tr", k >= about.classes.length ? { class: "soft" } : {}, made("th", { scope: "row" }, name), made("td", {}, count.toLocaleString("en")))));
  if (state.trouble) banner(`The learner waits: ${state.trouble}. Every confirmed answer is stored.`);
  judge(state);
  certificate(state);
  agree(state);
}

function judge(state) {
  const last = state.estimates[state.estimates.length - 1], falling = about.measure === "error";
  const { met, answer, why, pill } = verdict(about, state);
  at("pill").dataset.met = at("stop-answer").dataset.met = met;
  at("stop-answer").textContent = answer;
  at("stop-why").textContent = why;
  at("pill-text").textContent = pill;
  at("plot").parentElement.hidden = !about.estimates;
  draw(at("plot"), state.estimates, about.target, falling);
  at("plot-caption").textContent = last && last.value !== null && !last.refused
    ? `${falling ? "Error" : "Recall"} now: ${percent(last.value)}, 95 % interval ${percent(last.low)} to ${percent(last.high)}, after ${last.answers} answers`
    : `${falling ? "Error" : "Recall"} by number of labels`;
}

function summary(last) {
  return last.passed && !last.up_to_date ? `Outdated: ${since(last)}. It said: ${last.says}.` : `${last.says}.`;
}

function certificate(state) {
  const { attempt, certificate: last } = state;
  at("certify").hidden = attempt !== null;
  at("give-up").hidden = attempt === null;
  const running = attempt && `An attempt is under way (${attempt.measure} ${bounded(attempt.measure, attempt.target)}): ${attemptSoFar(attempt)}`;
  const idle = "A certificate is a proof that others can check. Documents are drawn at random until the claim is proved.";
  at("certificate-says").textContent = running || (last ? summary(last) : idle);
  document.querySelector('[data-kind="certificate"]').hidden = !last;
  at("forecast").hidden = isAllRead(about, state) || Boolean(last && last.passed && last.reaches_goal && last.up_to_date);
  if (attempt === null && foreseen !== state.labelled) { foreseen = state.labelled; forecast(); }
}

function attemptSoFar(attempt) {
  if (attempt.waits) return "answer the documents that are open; the draws begin after those.";
  const counts = attempt.measure === "recall" ? `${attempt.found} of ${about.positive} found in all` : `${attempt.wrong} where the model was wrong`;
  const left = attempt.labels_left, stays = attempt.measure === "recall" ? "if nothing more is found" : "if the share of errors stays as seen";
  const ahead = left === null ? "Unless fewer are wrong from here on, the claim cannot be proved" : `About ${left.toLocaleString("en")} more ${stays}`;
  const waits = attempt.waiting ? ` ${attempt.waiting} ${attempt.waiting === 1 ? "answer waits" : "answers wait"} for a document that somebody has open; after ${attempt.lease} seconds it goes to another person.` : "";
  return `${attempt.labels} ${attempt.labels === 1 ? "label" : "labels"} drawn, ${counts}. ${ahead}.${waits} The next documents are drawn at random.`;
}

// Says, before an attempt begins, how many labels it will take.
async function foresee() {
  const measure = at("measure").value, target = Number(at("target").value) / 100;
  if (!(target > 0 && target < 1)) { at("forecast").textContent = ""; return; }
  const { labels, expected, why } = await read("forecast", { measure, target });
  const kind = measure === "precision" ? `error among documents predicted ${about.positive}` : "error";
  const given = expected === null ? "if nothing more is found, and more otherwise" : `if the ${kind} is ${percent(expected)}, ${why}`;
  at("forecast").textContent = labels === null ? `The ${kind} is estimated to be ${percent(expected)}: label more before you try.` : `It will take about ${labels.toLocaleString("en")} labels ${given}.`;
}

const forecast = () => foresee().catch(() => { at("forecast").textContent = ""; });

function agree({ agreement, people }) {
  at("agreement").hidden = !agreement.items;
  if (!agreement.items) return;
  const figure = (value) => (value === null || Number.isNaN(value) ? "–" : value.toFixed(2));
  const pairs = agreement.pairs.map((each) => `${each.people.join(" and ")} agree on ${each.agreed} of ${each.items} (κ ${figure(each.kappa)})`);
  at("agreement").textContent = `${people.length} people: ${pairs.join("; ")}. Krippendorff’s α ${figure(agreement.alpha)}.`;
}

// Keys, dialogs, start

const keys = {
  s: () => answer(null), u: undo, ArrowLeft: back, ArrowRight: forward,
  c: () => (at("certify").hidden ? at("give-up") : at("target")).focus(),
  h: () => document.body.classList.toggle("plain"), "/": () => openSearch(), "?": () => at("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && event.target.closest("aside")) at("document").focus({ preventScroll: true });
  if (event.target.closest("input, select, textarea")) return;
  const two = about && about.classes.length === 2;
  const other = two && about.classes.find((name) => name !== about.positive);
  const name = about && (two && event.key === "y" ? about.positive : two && event.key === "n" ? other : about.classes[KEYS.indexOf(event.key)]);
  if (!name && !keys[event.key]) return;
  event.preventDefault();
  if (name) answer(name); else keys[event.key]();
});

function openSearch() {
  at("search").showModal();
  at("search-text").select();
}

function list(found) {
  at("found").replaceChildren(...found.map((each) => {
    const tag = each.labelled ? each.label ?? "skipped" : "";
    const button = made("button", { type: "button" }, made("span", { class: "snippet" }, each.snippet), made("span", { class: "tag" }, tag));
    button.addEventListener("click", () => { at("search").close(); open(each.item); });
    return made("li", {}, button);
  }));
  if (!found.length) at("found").append(made("li", {}, "Nothing found."));
}

at("search-text").addEventListener("input", () => {
  clearTimeout(waiting);
  const text = at("search-text").value.trim();
  waiting = setTimeout(async () => {
    if (text) list(await read("search", { text })); else at("found").replaceChildren();
  }, 200);
});
at("search-text").addEventListener("keydown", (event) => {
  if (event.key === "Escape") at("search").close();  // browsers would clear the text first
  if (event.key === "Enter") at("found").querySelector("button")?.click();
});
at("open-search").addEventListener("click", openSearch);
at("open-help").addEventListener("click", () => at("help").showModal());
at("skip").addEventListener("click", () => answer(null));
at("undo").addEventListener("click", undo);
at("earlier").addEventListener("click", back);
at("return").addEventListener("click", forward);
at("more").addEventListener("click", () => act(async () => {
  const state = await read("state");
  return post("budget", { budget: state.budget + 100 });
}, follow));
at("budget-form").addEventListener("submit", (event) => {
  event.preventDefault();
  act(() => post("budget", { budget: Number(at("budget").value) }), follow);
});
at("measure").addEventListener("change", () => { bound(); forecast(); });
at("target").addEventListener("input", forecast);
at("certify").addEventListener("submit", (event) => {
  event.preventDefault();
  act(() => post("certify", { measure: at("measure").value, target: Number(at("target").value) / 100 }), follow);
});
at("give-up").addEventListener("click", () => act(() => post("give-up"), follow));
at("annotator").addEventListener("change", () => {
  localStorage.setItem("steelyard-annotator", at("annotator").value.trim() || "me");
  at("annotator").value = who();
  act(() => read("next"), follow);
});

function bound() {
  const error = at("measure").value === "error";
  at("bound").textContent = error ? "is below" : "is at least";
  const usual = error ? 5 : 90;
  at("target").value = at("measure").value === about.measure ? Math.round(1000 * about.target) / 10 : usual;
}

function begin(found) {
  about = found;
  document.title = `${about.name} – labelling`;
  at("name").textContent = about.name;
  at("annotator").value = who();
  const claims = [["error", "the error"]];
  if (about.positive !== null) claims.push(["precision", `the precision of ${about.positive}`], ["recall", `the recall of ${about.positive}`]);
  claims.sort((one, other) => (other[0] === about.measure) - (one[0] === about.measure));  // what the project is about comes first
  at("measure").append(...claims.map(([value, what]) => made("option", { value }, what)));
  bound();
  at("classes").classList.toggle("many", about.classes.length > 8);
  at("classes").append(...about.classes.map((name, k) => {
    const positive = name === about.positive;
    const letter = about.classes.length === 2 ? ` ${positive ? "y" : "n"}` : "";
    const key = KEYS[k] ?? "", shortcut = key ? { "aria-keyshortcuts": `${key}${letter}` } : {};
    const button = made("button", { type: "button", ...shortcut }, made("span", {}, name), ...(key ? [made("kbd", {}, key)] : []));
    button.addEventListener("click", () => answer(name));
    return button;
  }));
  if (about.exchange) document.querySelector("[data-kind=csv]").before(made("a", { "data-kind": about.exchange }, FORMATS[about.exchange]), " ");
  document.querySelector("[data-kind=parquet]").hidden = !about.parquet;
  for (const link of document.querySelectorAll("[data-kind]")) link.href = `api/download?kind=${link.dataset.kind}`;
  const help = about.classes.flatMap((name, k) => (KEYS[k] ? [[KEYS[k], name]] : []));
  if (about.classes.length === 2) help.push(["y n", `${about.positive}, or not`]);
  help.push(["s", "skip: nobody can tell"], ["u", "undo your last answer"], ["← →", "earlier documents, to change an answer, and back"], ["c", "certificate: Enter begins one, Esc goes back"], ["/", "search"], ["h", "highlight words, or not"], ["?", "this list"]);
  at("keys").append(...help.flatMap(([key, what]) => [made("dt", {}, ...key.split(" ").map((each) => made("kbd", {}, each))), made("dd", {}, what)]));
}

// A closed page gives its document back; if it is loaded again, it gets the same one.
addEventListener("pagehide", () => fetch("api/leave", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ client }), keepalive: true,
}));

act(async () => { if (!about) begin(await read("about")); return read("next"); }, follow);
setInterval(async () => {
  if (busy || document.hidden || !about) return;
  try {
    const state = await read("state");
    if (!busy) update(state);
    if (!busy && current === null && shown === null) act(() => read("next"), (found) => { if (found.question) follow(found); });
  } catch { /* the next answer shows the error */ }
}, REFRESH);
