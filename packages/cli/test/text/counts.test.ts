import { expect, it } from 'vitest';
import { summarizeServers } from '../../src/serve/daemon-process.js';

const up = { status: 'connected', state: 'connected' };
const coming = { status: 'pending', state: 'connecting' };
const idle = { status: 'pending', state: 'disconnected' };

it.each([
  [[], '0 of 0 servers are connected'],
  [[up], '1 of 1 server is connected'],
  [[up, up, coming], '2 of 3 servers are connected, 1 is connecting'],
  [[up, coming, coming, idle], '1 of 4 servers are connected, 2 are connecting'],
])('%j: %s', (servers, text) => {
  expect(summarizeServers(servers)).toBe(text);
});
