/** What an error says to do next has to work. */
import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, turnbuckle } from './turnbuckle.js';

const NOBODY = 'http://127.0.0.1:1/mcp';

it.each(['get', 'show', 'cat'])('who wants to %s a secret is told that none is shown', async (word) => {
  const { code, stderr } = await turnbuckle(['secrets', word, 'demo'], { home: await createHome() });
  expect(code).toBe(13);
  expect(stderr).toContain('never shown');
  expect(stderr).toContain('turnbuckle secrets list');
  expect(stderr).not.toContain('secrets set');
});

it('names the option that a server of this run needs, without what is in it', async () => {
  const home = await createHome({});
  const { stderr } = await turnbuckle(['call', 'j', 'x', '--mcp-server', `j=${NOBODY}?key=geheim`], { home });
  expect(stderr).toContain("turnbuckle config j --mcp-server 'j=…'");
  expect(stderr.split('turnbuckle config')[1]).not.toContain('geheim');
  expect((await turnbuckle(['config', 'j', '--mcp-server', `j=${NOBODY}`], { home })).code).toBe(0);
});

it('names the file that a server of this run is in', async () => {
  const home = await createHome({});
  const file = await home.write('other.json', { servers: { j: { url: NOBODY } } });
  const { stderr } = await turnbuckle(['call', 'j', 'x', '--config', file], { home });
  expect(stderr).toContain(`turnbuckle config j --config ${file}`);
  expect((await turnbuckle(['config', 'j', '--config', file], { home })).code).toBe(0);
});

it('leaves the hints for other servers alone', async () => {
  const home = await createHome({ j: { url: NOBODY } });
  const { stderr } = await turnbuckle(
    ['call', 'j', 'x', '--mcp-server', `trial=${fixture('echo').command}`],
    { home },
  );
  expect(stderr).toMatch(/turnbuckle config j\n/);
});
