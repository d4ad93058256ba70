// A server of MCP over stdio that needs nothing: one tool, which says what it was given.
import { createInterface } from "node:readline";

const schema = { type: "object", properties: { text: { type: "string", description: "A text." } }, required: ["text"] };
const annotations = { readOnlyHint: true };
const tools = [{ name: "say", description: "Says a text.", inputSchema: schema, annotations }];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "bench", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": (params) => ({ content: [{ type: "text", text: `said ${params.arguments.text}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: `no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
