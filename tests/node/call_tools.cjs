// Calls tools by the official TypeScript SDK of the handshake era, and prints what its caller gets, as one JSON object.
//
// node call_tools.cjs MODULES ORDER: MODULES is the folder of the packages, ORDER is JSON. It has `url`, or `command`,
// `args` and `env` of a server to start; and `calls`, each with `name` and `arguments`.
const { createRequire } = require('node:module');

const need = createRequire(`${process.argv[2]}/`);
const { Client } = need('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = need('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = need('@modelcontextprotocol/sdk/client/streamableHttp.js');

async function main({ url, calls, ...server }) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport(server));
  try {
    const { tools } = await client.listTools(); // which makes a validator of each output schema
    const answers = [];
    for (const call of calls)
      answers.push(await client.callTool(call).catch((error) => ({ thrown: error.message })));
    console.log(JSON.stringify({ tools, answers }));
  } finally {
    await client.close();
  }
}

main(JSON.parse(process.argv[3])).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
