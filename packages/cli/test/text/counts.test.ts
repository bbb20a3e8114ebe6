import { expect, it } from 'vitest';
import { howManyUp } from '../../src/daemon/background.js';

const up = { status: 'connected', state: 'connected' };
const coming = { status: 'pending', state: 'connecting' };
const idle = { status: 'pending', state: 'disconnected' };

it.each([
  [[], '0 of 0 servers are up'],
  [[up], '1 of 1 server is up'],
  [[up, up, coming], '2 of 3 servers are up, 1 is connecting'],
  [[up, coming, coming, idle], '1 of 4 servers are up, 2 are connecting'],
])('%j: %s', (servers, text) => {
  expect(howManyUp(servers)).toBe(text);
});
