import { beforeEach, expect, it } from 'vitest';
import { emptyCredentials } from '../../src/session/checks/empty-credentials.js';
import { createHome, type Home, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({});
});

it.each([
  [['-H', 'Authorization: Bearer '], 'The header Authorization has nothing after "Bearer".'],
  [['-H', 'Authorization: basic'], 'The header Authorization has nothing after "basic".'],
  [['-H', 'X-Api-Key: '], 'The header X-Api-Key is empty.'],
])('warns when a header holds no credential: %j', async (words, message) => {
  const { code, stderr } = await turnbuckle(['add', 'docs', 'https://example.com/mcp', ...words], { home });
  expect(code).toBe(0);
  expect(stderr).toContain(
    `warning ${message} To keep the shell from replacing a placeholder, put it in single quotes: '\${NAME}'.\n`,
  );
});

it('warns on stderr with --json too', async () => {
  const words = ['add', 'notes', '-e', 'NOTES_TOKEN=', '--json', '--', 'notes', '--api-key='];
  const { stdout, stderr } = await turnbuckle(words, { home });
  expect(JSON.parse(stdout)).toMatchObject({ added: 'notes' });
  expect(stderr).toContain('The variable NOTES_TOKEN is empty.');
  expect(stderr).toContain('The option --api-key is empty.');
});

it('warns about empty credentials in imported servers', async () => {
  await home.write('.cursor/mcp.json', {
    mcpServers: { docs: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ' } } },
  });
  expect((await turnbuckle(['import'], { home })).stderr).toContain('has nothing after "Bearer"');
});

it.each<[Record<string, unknown>, number]>([
  [{ url: 'https://example.com/mcp?api_key=' }, 1],
  [{ url: 'https://example.com/mcp?page=' }, 0],
  [{ url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${TOKEN}', Accept: 'x' } }, 0],
  [{ command: 'x', env: { TOKEN: 'bearer' }, args: ['--token=a', '--verbose', ''] }, 0],
  [{ headers: 1, env: null, url: {}, args: 'x' }, 0],
])('finds only empty credentials: %j', (entry, count) => {
  expect(emptyCredentials(entry)).toHaveLength(count);
});
