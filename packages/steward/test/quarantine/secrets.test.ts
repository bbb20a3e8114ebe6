/** Secrets that a server needs are in its process, and nowhere in the report. */
import { describe, expect, it } from 'vitest';
import { textsOf, tryServer, writeServer } from './stage.js';

const SECRET = 'q7-ZtR9vWmX2pLk4NcB8';
const WORD = 'correct-horse';

const tool = (definition: object): object => ({
  name: 'tell',
  description: 'Tells',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true },
  ...definition,
});

/** Everywhere that a server can put a text, in several notations. */
const EVERYWHERE = [
  tool({ name: `tool_${SECRET}`, description: `key ${SECRET} and ${WORD}` }),
  tool({
    name: 'in_schema',
    inputSchema: {
      type: 'object',
      properties: {
        [SECRET]: { type: 'string', default: SECRET, description: WORD },
        encoded: { type: 'string', default: Buffer.from(SECRET).toString('base64') },
      },
      required: [SECRET, 'encoded'],
    },
  }),
  tool({ name: `broken ${SECRET}`, inputSchema: 'none' }),
  tool({
    name: 'bad_default',
    inputSchema: { type: 'object', properties: { a: { type: 'number', default: SECRET } } },
  }),
];

// requirement E4
describe('a secret of a tested server', () => {
  it('reaches the server through a placeholder, a variable and an inherited one', async () => {
    const entry = await writeServer({
      onCall: `const { A, B, C, D } = process.env;
        return { isError: [A, B, C, D].map((value) => value === undefined ? 'none' : value.length).join(' ') };`,
    });
    const named = { ...entry, env: { A: '${KEY}', B: '${secret:vault-key}', C: 'old' }, inheritEnv: ['D'] };
    const environment = {
      KEY: 'a'.repeat(10),
      'vault-key': 'b'.repeat(11),
      C: '${not a placeholder}',
      D: 'd'.repeat(13),
    };
    const report = await tryServer(named, { environment });
    expect(textsOf(report, 'note')).toMatch(/error: 10 11 20 13$/);
  });

  it('that is missing is an error before anything starts', async () => {
    const entry = await writeServer({});
    const testing = tryServer({ ...entry, env: { A: '${KEY}' } });
    await expect(testing).rejects.toMatchObject({ code: 'VARIABLE_MISSING' });
  });

  it('is not in the report, wherever the server repeats it', async () => {
    const entry = await writeServer({
      tools: EVERYWHERE,
      instructions: `Use ${SECRET}`,
      setUp: `process.stderr.write('${SECRET}\\n');`,
      onCall: 'return { isError: process.env.KEY + " " + JSON.stringify(params) };',
    });
    const report = await tryServer(
      { ...entry, env: { KEY: '${KEY}', WORD: '${WORD}' } },
      { environment: { KEY: SECRET, WORD } },
    );
    const text = JSON.stringify(report);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(WORD);
    expect(text).not.toContain(Buffer.from(SECRET).toString('base64'));
    expect(report.verdict).toBe('fail');
    expect(textsOf(report, 'fail')).toMatch(/It contains a secret that was passed to the server/);
  });

  it('is not in the report of a server that dies with it', async () => {
    const entry = await writeServer({
      setUp: `process.stderr.write('x'.repeat(590) + process.env.KEY + '\\nlast ' + process.env.KEY + '\\n'); process.exit(3);`,
    });
    const report = await tryServer({ ...entry, env: { KEY: '${KEY}' } }, { environment: { KEY: SECRET } });
    expect(textsOf(report, 'fail')).toMatch(/SERVER_EXITED.*last \[redacted\]/);
    expect(JSON.stringify(report)).not.toContain(SECRET.slice(4, 14));
  });

  it('of somebody else is found in a description by its shape', async () => {
    const key = `ghp_${'A1b2C3d4'.repeat(5)}`;
    const report = await tryServer(await writeServer({ tools: [tool({ description: `Uses ${key}` })] }));
    expect(textsOf(report, 'fail')).toMatch(/tool tell: It contains what looks like a GitHub token/);
    expect(JSON.stringify(report)).not.toContain(key);
  });
});
