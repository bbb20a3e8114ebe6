#!/usr/bin/env node
// A server without dependencies that tries what it is told to and reports the outcome.
import { spawn, spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import fs from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

// With a file as its argument it keeps running after stdin ends, until SIGTERM; then it writes a line to the file.
const farewell = process.argv[2];
if (farewell !== undefined) {
  setTimeout(() => process.exit(1), 60_000);
  process.on('SIGTERM', () =>
    setTimeout(() => {
      fs.writeFileSync(farewell, 'left in order');
      process.exit(0);
    }, 200),
  );
}

const readOr = (read) => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const ATTEMPTS = {
  read: ({ path }) => fs.readFileSync(path, 'utf8').slice(0, 1_000),
  list: ({ path }) => fs.readdirSync(path),
  write: ({ path, text = 'written inside' }) => fs.writeFileSync(path, text),
  // Opens without writing: a write to some of these files would change the machine.
  openToWrite: ({ path }) => fs.closeSync(fs.openSync(path, 'r+')),
  makeDirectory: ({ path }) => fs.mkdirSync(path, { recursive: true }),
  rename: ({ from, to }) => fs.renameSync(from, to),
  remove: ({ path }) => fs.rmSync(path, { recursive: true }),
  link: ({ path, to }) => fs.symlinkSync(to, path),
  facts: () => ({
    directory: process.cwd(),
    environment: process.env,
    status: fs.readFileSync('/proc/self/status', 'utf8'),
    descriptors: Object.fromEntries(
      fs.readdirSync('/proc/self/fd').map((fd) => [fd, readOr(() => fs.readlinkSync(`/proc/self/fd/${fd}`))]),
    ),
    processes: fs
      .readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readOr(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))),
  }),
  connect: ({ port }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() && 'connected'));
      socket.once('error', reject);
    }),
  lookup: ({ name }) => lookup(name),
  nest: () => spawnSync('unshare', ['--user', 'true']).status,
  allocate: ({ megabytes }) => Array.from({ length: megabytes }, () => Buffer.alloc(1 << 20, 1)).length,
  fill: ({ path, megabytes }) => {
    const file = fs.openSync(path, 'w');
    for (let count = 0; count < megabytes; count += 1) fs.writeSync(file, Buffer.alloc(1 << 20, 1));
    fs.closeSync(file);
  },
  spin: () => {
    for (;;);
  },
  fork: async ({ count }) => {
    const children = Array.from({ length: count }, () => spawn('sleep', ['30']));
    const started = await Promise.all(
      children.map(
        (child) =>
          new Promise((resolve) =>
            child.once('spawn', () => resolve(true)).once('error', () => resolve(false)),
          ),
      ),
    );
    for (const child of children) child.kill();
    return started.filter(Boolean).length;
  },
};

const attempt = async (name, args) => {
  try {
    return { done: (await ATTEMPTS[name](args)) ?? null };
  } catch (error) {
    return { failed: error.code ?? error.message };
  }
};

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'probing', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.keys(ATTEMPTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': async ({ name, arguments: args = {} }) => ({
    content: [{ type: 'text', text: JSON.stringify(await attempt(name, args)) }],
  }),
};

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = ANSWERS[method];
    if (answer === undefined) write({ id, error: { code: -32601, message: `no ${method}` } });
    else write({ id, result: await answer(params ?? {}) });
  })
  .on('close', () => {
    if (farewell === undefined) process.exit(0);
  });
