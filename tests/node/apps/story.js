// What every app does first: it waits for its sheet, as bundlers have it, and fetches its story.
export const load = async () => {
  await new Promise((done, fail) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/app.css" });
    sheet.onload = done;
    sheet.onerror = fail;
    document.head.append(sheet);
  });
  const answer = await fetch("/story.json");
  return answer.json();
};
