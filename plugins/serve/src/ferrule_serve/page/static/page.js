// What the page does beyond reading: answers without loading it again, and last calls that keep up. All of it works
// without this, by loading pages. Nothing here makes markup of a text: what is taken over was escaped by the server.
"use strict";

const REFRESH = 2000; // milliseconds

function partOf(text, id) {
  return new DOMParser().parseFromString(text, "text/html").getElementById(id);
}

async function refreshCalls() {
  const shown = document.getElementById("last-calls");
  if (!shown || document.visibilityState !== "visible") return;
  try {
    const answer = await fetch("calls");
    const latest = answer.ok && partOf(await answer.text(), "last-calls");
    if (latest && latest.innerHTML !== shown.innerHTML) shown.replaceChildren(...latest.childNodes);
  } catch {
    // The server does not answer; what is shown stays as it was.
  }
}

function say(text) {
  document.getElementById("result-status").textContent = text;
}

async function send(form, signal) {
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), signal });
  const text = await answer.text();
  const result = partOf(text, "result");
  if (result) {
    const status = partOf(text, "result-status");
    const shown = document.getElementById("result-status");
    result.querySelector("#result-status").replaceWith(shown); // a live region speaks only if it stays in its place
    document.getElementById("result").replaceChildren(...result.childNodes);
    shown.replaceChildren(...status.childNodes);
  } else {
    say(partOf(text, "content")?.querySelector(".problem")?.textContent ?? `Not called: HTTP ${answer.status}.`);
  }
}

async function submitted(event) {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button[type=submit]");
  if (button.disabled) return;
  const leave = new AbortController();
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", () => leave.abort());
  button.disabled = true;
  button.after(cancel);
  say("Running …");
  try {
    await send(form, leave.signal);
  } catch (error) {
    say(error.name === "AbortError" ? "Cancelled." : "The server does not answer.");
  }
  const hadFocus = document.activeElement === cancel || document.activeElement === document.body;
  cancel.remove();
  button.disabled = false;
  if (hadFocus) button.focus();
}

for (const form of document.forms) form.addEventListener("submit", submitted);
if (document.getElementById("calls")) setInterval(refreshCalls, REFRESH);
