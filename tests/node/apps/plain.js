import { load } from "./story.js";

customElements.define(
  "plain-notes",
  class extends HTMLElement {
    connectedCallback() {
      const root = this.attachShadow({ mode: "open" });
      root.innerHTML = "<h2>Notes</h2><slot></slot>";
    }
  },
);

const { title, text, notes } = await load();
const { heading } = await import("./heading.js");
document.getElementById("root").innerHTML = `<h1>${heading(title)}</h1><p>${text}</p><plain-notes><ul>${notes
  .map((note) => `<li>${note}</li>`)
  .join("")}</ul></plain-notes>`;
