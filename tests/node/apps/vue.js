import { createApp, defineAsyncComponent, h, ref } from "vue/dist/vue.esm-bundler.js";
import { load } from "./story.js";

const Heading = defineAsyncComponent(async () => {
  const { heading } = await import("./heading.js");
  return { props: ["title"], render: (its) => h("h1", heading(its.title)) };
});

createApp({
  components: { Heading },
  setup() {
    const story = ref(null);
    load().then((loaded) => (story.value = loaded));
    return { story };
  },
  template: `
    <p v-if="!story">Loading…</p>
    <template v-else>
      <Heading :title="story.title" />
      <p>{{ story.text }}</p>
      <h2>Notes</h2>
      <ul><li v-for="note in story.notes" :key="note">{{ note }}</li></ul>
    </template>`,
}).mount("#root");
