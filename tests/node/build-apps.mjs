// Builds the apps of the folder `apps` as their makers do: bundled and split, each into a folder of its name.
// Arguments: the folder of the packages, and the folder to build into.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, to] = process.argv.slice(2);
const require = createRequire(join(modules, "none.js"));
const { build } = require("esbuild");
const { compile } = await import(pathToFileURL(join(modules, "svelte/src/compiler/index.js")));
const apps = join(dirname(fileURLToPath(import.meta.url)), "apps");

const svelte = {
  name: "svelte",
  setup(building) {
    building.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const { js } = compile(await readFile(path, "utf8"), { generate: "client", filename: path });
      return { contents: js.code, loader: "js" };
    });
  },
};

for (const name of ["plain.js", "react.jsx", "vue.js", "svelte.js"]) {
  await build({
    entryPoints: { app: join(apps, name) },
    outdir: join(to, name.replace(/\..*/, "")),
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    jsx: "automatic",
    nodePaths: [modules],
    conditions: ["browser", "production"],
    define: {
      "process.env.NODE_ENV": '"production"',
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    plugins: [svelte],
    logLevel: "error",
  });
}
