/** The shell expands a placeholder that is unquoted or in double quotes: no example may contain one. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { BIN, createHome, environmentOf } from '../commands/turnbuckle.js';
import { PAGES, readText } from './repository.js';

/** The variables that the shell would expand: outside single quotes. `$(…)`, `$?` and `$1` are intended. */
function expandedByShell(command: string): string[] {
  const open = command.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, (part) =>
    part.startsWith('"') ? part : ' ',
  );
  return [...open.replace(/\s#.*$/, '').matchAll(/\$\{?[A-Za-z_][\w:.-]*\}?/g)].map(([text]) => text);
}

/** The part of a line that is a turnbuckle command: from its name to its end. */
const turnbuckleCommands = (line: string): string[] =>
  [...line.matchAll(/(?:^|[|;&$(]\s*|\s)((?:turnbuckle|tbk|npx @turnbuckle\/cli) [^|;&]*)/g)].map(
    ([, part = '']) => part,
  );

/** Lines of code on a page, with continuation lines joined. */
const codeOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^(?:<!--.*-->\n)?```(?:sh|bash|console|shell|text)\n([\s\S]*?)^```$/gm)]
    .flatMap(([, text = '']) => text.replace(/\\\n\s*/g, ' ').split('\n'))
    .concat([...markdown.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text));

describe('examples', () => {
  it('are parsed', () => {
    expect(expandedByShell('turnbuckle add x -H "A: ${T}"')).toEqual(['${T}']);
    expect(expandedByShell('turnbuckle add x -e A=$T')).toEqual(['$T']);
    expect(expandedByShell('turnbuckle add x -H \'A: ${T}\' -- "$(pwd)" \'"$X"\'')).toEqual([]);
    expect(turnbuckleCommands('$ FOO=1 turnbuckle list | grep "$X"')).toEqual(['turnbuckle list ']);
  });

  it('of the help leave nothing for the shell to fill in', () => {
    const lines = COMMANDS.flatMap(({ examples }) => examples.map(({ line }) => line));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => expandedByShell(line).length > 0)).toEqual([]);
  });

  it.each(PAGES)('of %s contain nothing that the shell expands', (page) => {
    const lines = codeOf(readText(page)).flatMap(turnbuckleCommands);
    expect(lines.filter((line) => expandedByShell(line).length > 0)).toEqual([]);
  });
});

it('the examples of add, run in a shell, store placeholders unchanged', async () => {
  const home = await createHome({});
  const bin = `${process.execPath} ${BIN}`;
  const add = COMMANDS.find(({ name }) => name === 'add');
  // A server of a registry is installed by the daemon.
  const entries = (add?.examples ?? []).filter(({ line }) => !/ add [\w.-]+\/[\w-]+$/.test(line));
  expect(entries).toHaveLength((add?.examples.length ?? 0) - 1);
  for (const { line } of entries) {
    const { stderr } = await promisify(execFile)('sh', ['-c', line.replace(/^turnbuckle/, bin)], {
      cwd: home.project,
      env: environmentOf(home),
    });
    expect(stderr).not.toContain('warning');
  }
  const { servers } = JSON.parse(await home.read('.config/turnbuckle/mcp.json'));
  expect(servers).toMatchObject({
    files: { args: ['-y', '@modelcontextprotocol/server-filesystem', home.file('notes')] },
    docs: { headers: { Authorization: 'Bearer ${DOCS_TOKEN}' } },
    db: { env: { URL: '${DB_URL}' } },
  });
});
