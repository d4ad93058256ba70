// The HTML of the page as it is shown, at most `max` characters of it, and what can be written in `milliseconds`:
// [whether that is all, the HTML].
// It runs apart from the page's own scripts, which can change nothing here. Shadow trees stand where they are shown,
// and what their slots show stands in these. Nothing is nested by calls, so no depth is too much.
(max, milliseconds) => {
  const until = performance.now() + milliseconds;
  const NODES_PER_CLOCK = 500;
  const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
  const RAW = new Set("script style iframe".split(" "));
  const RENAMED = {xmp: "pre", plaintext: "pre", listing: "pre"};
  const LEFT_OUT = new Set("noscript template canvas".split(" "));
  const NAME = /^[a-z][\w:.-]*$/i;
  const PLACES = {href: ["a", "area"], src: ["img"]};
  const pieces = [];
  let room = max;
  const put = (text) => {
    room -= text.length;
    pieces.push(room < 0 ? text.slice(0, room) : text);
  };
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const attribute = (element, name, {name: known, value}) => {
    if (!NAME.test(known) || value.startsWith("data:")) return "";
    const whole = PLACES[known]?.includes(name) && typeof element[known] === "string" ? element[known] : value;
    return ` ${known}="${escape(whole.slice(0, room)).replace(/"/g, "&quot;")}"`;
  };
  const raw = (element, name) => {
    const text = element.textContent.slice(0, room);
    if (name === "script") return text.replace(/<\//g, "<\\/");
    if (name === "iframe") return "";
    return text.includes("</") ? "" : text;
  };
  const isShown = (element, name) => {
    if (LEFT_OUT.has(name)) return false;
    if (name === "script") return element.type === "application/ld+json";
    return name !== "style" || element.getRootNode() === document;
  };
  // What is still to be written: texts, lists of one node, and nodes that their siblings follow.
  const waiting = [document.documentElement];
  const waitForAll = (nodes) => { for (let at = nodes.length; at--;) waiting.push([nodes[at]]); };
  const write = (element) => {
    const name = element.localName.toLowerCase();
    if (!isShown(element, name)) return;
    if (name === "slot" && element.getRootNode() !== document) {
      const assigned = element.assignedNodes({flatten: true});
      if (assigned.length) waitForAll(assigned);
      else if (element.firstChild) waiting.push(element.firstChild);
      return;
    }
    const tag = NAME.test(name) ? RENAMED[name] ?? name : "span";
    put(`<${tag}`);
    for (const each of element.attributes) if (room > 0) put(attribute(element, name, each));
    put(tag === "pre" || tag === "textarea" ? ">\n" : ">");
    if (VOID.has(name)) return;
    waiting.push(`</${tag}>`);
    const first = (element.shadowRoot ?? element).firstChild;
    if (RAW.has(name)) waiting.push(raw(element, name));
    else if (first) waiting.push(first);
  };
  for (let count = 1; waiting.length && room > 0; count++) {
    if (count % NODES_PER_CLOCK === 0 && performance.now() > until) break;
    const next = waiting.pop();
    if (typeof next === "string") put(next);
    else {
      const node = Array.isArray(next) ? next[0] : next;
      if (node === next && node.nextSibling) waiting.push(node.nextSibling);
      if (node.nodeType === Node.TEXT_NODE) put(escape(node.data.slice(0, room)));
      else if (node.nodeType === Node.ELEMENT_NODE) write(node);
    }
  }
  return [!waiting.length && room >= 0, pieces.join("")];
}
