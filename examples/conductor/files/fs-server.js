// A small MCP server over the files below its working directory.
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const ROOT = process.cwd();
const TOOLS = [
  { name: 'read_file', description: 'Reads the content of a file.' },
  { name: 'write_file', description: 'Writes content to a file.' },
];

function inside(name) {
  const file = path.resolve(ROOT, name);
  if (file !== ROOT && !file.startsWith(ROOT + path.sep)) throw new Error(`Access denied: ${name}`);
  return file;
}

function run(tool, args) {
  if (tool === 'read_file') {
    const file = inside(args.path);
    if (!fs.existsSync(file)) throw new Error(`File not found: ${args.path}`);
    return fs.readFileSync(file, 'utf8');
  }
  if (tool === 'write_file') {
    fs.writeFileSync(inside(args.path), args.content);
    return `Wrote ${args.path}`;
  }
  throw new Error(`Unknown tool: ${tool}`);
}

function call({ name, arguments: args = {} }) {
  try {
    return { content: [{ type: 'text', text: run(name, args) }], isError: false };
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'fs-server', version: '1.0.0' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: TOOLS } };
    case 'tools/call':
      return { result: call(params) };
    default:
      return { error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) })}\n`);
});
process.stderr.write('fs-server ready on stdio\n');
