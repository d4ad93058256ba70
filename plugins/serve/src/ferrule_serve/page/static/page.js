// What the page does beyond reading: events as they come, answers without loading it again, tools found while a word is
// typed, last calls that keep up. All tools can be read and tried without this, by loading pages. Nothing here makes
// markup of a text: what is taken over as markup was escaped by the server.
"use strict";

const REFRESH = 2000; // milliseconds
const OWN_CALLS = "ferrule calls"; // in the browser's store: the keys of calls that were made here, by their names
const MAX_OWN_CALLS = 50;

function byId(id) {
  return document.getElementById(id);
}

function partOf(text, id) {
  return new DOMParser().parseFromString(text, "text/html").getElementById(id);
}

function ownCalls() {
  try {
    return new Map(JSON.parse(localStorage.getItem(OWN_CALLS) ?? "[]"));
  } catch {
    return new Map(); // a browser may forbid the store, and another program may have written to it
  }
}

function rememberCall(name, key) {
  try {
    localStorage.setItem(OWN_CALLS, JSON.stringify([...ownCalls(), [name, key]].slice(-MAX_OWN_CALLS)));
  } catch {
    // The list has no link to this call then.
  }
}

// Nobody else may see what was in a call; who made it here has its key.
function linkOwnCalls(list) {
  const own = ownCalls();
  for (const row of list.querySelectorAll("[data-call]")) {
    const key = own.get(row.dataset.call);
    const time = row.querySelector("time");
    if (!key || !time) continue;
    const link = document.createElement("a");
    link.href = `calls/${encodeURIComponent(key)}`;
    time.replaceWith(link);
    link.append(time);
  }
}

async function refreshCalls() {
  const shown = byId("last-calls");
  if (document.visibilityState !== "visible" || shown.contains(document.activeElement)) return;
  try {
    const answer = await fetch("calls");
    const latest = answer.ok && partOf(await answer.text(), "last-calls");
    if (!latest) return;
    linkOwnCalls(latest);
    if (latest.innerHTML !== shown.innerHTML) shown.replaceChildren(...latest.childNodes);
  } catch {
    // The server does not answer; what is shown stays as it was.
  }
}

function say(text) {
  byId("result-status").textContent = text;
}

function bringIntoView() {
  const heading = byId("answer").getBoundingClientRect();
  if (heading.top < 0 || heading.bottom > window.innerHeight * 0.75) byId("result").scrollIntoView();
}

function startLive() {
  byId("result-parts").replaceChildren();
  byId("live-events").replaceChildren();
  byId("live-message").textContent = "";
  byId("live-progress").removeAttribute("value");
  byId("live").hidden = false;
  say("Running …");
  bringIntoView();
}

function showEvent({ line, progress, total, message }) {
  const events = byId("live-events");
  const isAtEnd = events.scrollHeight - events.scrollTop - events.clientHeight < 40;
  events.append(`${line}\n`);
  if (isAtEnd) events.scrollTop = events.scrollHeight;
  if (progress === null) return;
  const bar = byId("live-progress");
  if (total !== null) {
    bar.max = total;
    bar.value = Math.min(progress, total);
  }
  byId("live-message").textContent = `${progress}${total === null ? "" : ` of ${total}`} ${message}`;
}

function showAnswer(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  byId("live").hidden = true;
  byId("result-parts").replaceChildren(...page.getElementById("result-parts").childNodes);
  byId("result-status").replaceChildren(...page.getElementById("result-status").childNodes);
  byId("result-status").className = "";
  addCopyButtons();
  bringIntoView();
}

async function* linesOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (text + value).split("\n");
    text = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

async function send(action, fields, signal) {
  const headers = { Accept: "application/x-ndjson" };
  const answer = await fetch(action, { method: "POST", headers, body: fields, signal });
  if (!answer.headers.get("Content-Type")?.startsWith(headers.Accept)) {
    say(partOf(await answer.text(), "content")?.querySelector(".problem")?.textContent ?? `HTTP ${answer.status}.`);
    return;
  }
  let isWhole = false;
  for await (const line of linesOf(answer)) {
    if (line.page === undefined) {
      showEvent(line);
    } else {
      rememberCall(line.call, line.key);
      showAnswer(line.page);
      isWhole = true;
    }
  }
  if (!isWhole) throw new Error("The answer was cut.");
}

async function submitted(event) {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form));
  const buttons = [...document.querySelectorAll("form[method=post] button[type=submit]")];
  const button = form.querySelector("button[type=submit]");
  if (button.disabled) return;
  const leave = new AbortController();
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", () => leave.abort());
  for (const one of buttons) one.disabled = true;
  const isAnswers = byId("result-parts").contains(form); // which goes when the next answer comes
  (isAnswers ? byId("live") : button).after(cancel);
  startLive();
  try {
    await send(form.action, fields, leave.signal);
  } catch (error) {
    say(error.name === "AbortError" ? "Cancelled." : "The server does not answer.");
  }
  byId("live-progress").value ||= 0; // it moves as long as it has no value
  byId("live").hidden ||= byId("live-events").textContent === "";
  const hadFocus = document.activeElement === cancel || document.activeElement === document.body;
  cancel.remove();
  for (const one of buttons) one.disabled = false;
  if (hadFocus) (isAnswers ? byId("result-parts").querySelector("button[type=submit]") : button)?.focus();
}

function submitByKeys(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.form;
  if (form?.method !== "post") return;
  event.preventDefault();
  form.requestSubmit();
}

async function copy(shown, button) {
  try {
    await navigator.clipboard.writeText(shown.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(shown); // without the right to write there, as over plain HTTP
    button.textContent = "Selected";
  }
}

function addCopyButtons() {
  for (const shown of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy for ${shown.dataset.copy}`);
    button.addEventListener("click", () => copy(shown, button));
    shown.after(button);
  }
}

function findTools() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("[data-tool]")];
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  // Those whose name has a word come first; the others stay in their order.
  const rank = (row) => (words.some((word) => row.dataset.tool.toLowerCase().includes(word)) ? 0 : 1);
  const order = rows.map((row, place) => [rank(row), Number((row.dataset.place ??= place)), row]);
  order.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  rows[0]?.parentNode.append(...order.map(([, , row]) => row));
  byId("found").textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} tools.` : "";
}

document.addEventListener("submit", submitted);
document.addEventListener("keydown", submitByKeys);
for (const hint of document.querySelectorAll("[data-script]")) hint.hidden = false;
if (byId("result-parts")) addCopyButtons();
if (byId("last-calls")) {
  linkOwnCalls(byId("last-calls"));
  setInterval(refreshCalls, REFRESH);
}
if (byId("find") && !byId("find").value) byId("find").addEventListener("input", findTools);
