import { Suspense, lazy, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { load } from "./story.js";

const Heading = lazy(async () => {
  const { heading } = await import("./heading.js");
  return { default: ({ title }) => <h1>{heading(title)}</h1> };
});

function App() {
  const [story, setStory] = useState(null);
  useEffect(() => {
    load().then(setStory);
  }, []);
  if (!story) return <p>Loading…</p>;
  return (
    <Suspense fallback={<p>Loading…</p>}>
      <Heading title={story.title} />
      <p>{story.text}</p>
      <h2>Notes</h2>
      <ul>
        {story.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </Suspense>
  );
}

createRoot(document.getElementById("root")).render(<App />);
