// A minimal MCP server: newline-delimited JSON on stdin and stdout, one tool in its list.
const readline = require('node:readline');

const READ_FILE = {
  name: 'read_file',
  description: 'Reads a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
};

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'simple-fs-server', version: '1.0.0' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: [READ_FILE] } };
    default:
      return { error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) })}\n`);
});
