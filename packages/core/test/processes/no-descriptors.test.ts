import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';

const HOST = fileURLToPath(new URL('no-descriptors.mjs', import.meta.url));
const run = promisify(execFile);

describe.skipIf(process.platform === 'win32')('a host that has used up its descriptors', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12])(
    'fails the call that would start a server, and nothing else (%s are free)',
    async (spare) => {
      const state = await temporaryDirectory();
      const cold = { ...fixture('echo'), start: 'lazy', reconnect: { initialMs: 10 } };
      const question = { servers: { warm: fixture('echo'), cold }, stateDir: state.path, spare };
      const command = `ulimit -n 256; exec "$0" "$1" "$2"`;
      const { stdout } = await run('sh', ['-c', command, process.execPath, HOST, JSON.stringify(question)]);
      expect(JSON.parse(stdout)).toEqual({
        code: expect.stringMatching(/^(ok|CONNECT_FAILED)$/),
        after: 'later',
      });
    },
    60_000,
  );
});
