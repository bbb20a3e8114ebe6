/** The next step that an error suggests works. */
import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, turnbuckle } from './turnbuckle.js';

const UNREACHABLE = 'http://127.0.0.1:1/mcp';

it.each(['get', 'show', 'cat'])('secrets %s explains that secrets cannot be shown', async (word) => {
  const { code, stderr } = await turnbuckle(['secrets', word, 'demo'], { home: await createHome() });
  expect(code).toBe(13);
  expect(stderr).toContain('cannot be shown');
  expect(stderr).toContain('turnbuckle secrets list');
  expect(stderr).not.toContain('secrets set');
});

it('suggests the --mcp-server option of the server, without its value', async () => {
  const home = await createHome({});
  const { stderr } = await turnbuckle(['call', 'j', 'x', '--mcp-server', `j=${UNREACHABLE}?key=geheim`], {
    home,
  });
  expect(stderr).toContain("turnbuckle config j --mcp-server 'j=…'");
  expect(stderr.split('turnbuckle config')[1]).not.toContain('geheim');
  expect((await turnbuckle(['config', 'j', '--mcp-server', `j=${UNREACHABLE}`], { home })).code).toBe(0);
});

it('suggests the --config option with the file of the server', async () => {
  const home = await createHome({});
  const file = await home.write('other.json', { servers: { j: { url: UNREACHABLE } } });
  const { stderr } = await turnbuckle(['call', 'j', 'x', '--config', file], { home });
  expect(stderr).toContain(`turnbuckle config j --config ${file}`);
  expect((await turnbuckle(['config', 'j', '--config', file], { home })).code).toBe(0);
});

it('leaves the hints for other servers alone', async () => {
  const home = await createHome({ j: { url: UNREACHABLE } });
  const { stderr } = await turnbuckle(
    ['call', 'j', 'x', '--mcp-server', `trial=${fixture('echo').command}`],
    { home },
  );
  expect(stderr).toMatch(/turnbuckle config j\n/);
});

it.each([
  [['login', 'nope'], 'Configured servers: echo, two'],
  [['rules', 'allow'], 'usage: turnbuckle rules allow <caller> [server] [tool]'],
  [['setup'], 'turnbuckle setup <agent>'],
  [['call', 'echo', 'add', 'a=2', 'c=3'], 'Tool "add" requires b. It has no argument c.'],
])('%j says what to do next: %s', async (words, text) => {
  const home = await createHome({ echo: fixture('echo'), two: fixture('echo') });
  expect((await turnbuckle(words, { home })).stderr).toContain(text);
});

it('one server is not "1 servers"', async () => {
  const home = await createHome();
  const servers = { a: fixture('echo'), b: fixture('echo') };
  await home.write('.config/turnbuckle/mcp.json', { limits: { maxServers: 1 }, servers });
  expect((await turnbuckle(['ping', 'b'], { home })).stderr).toContain('the limit of 1 server is reached');
});
