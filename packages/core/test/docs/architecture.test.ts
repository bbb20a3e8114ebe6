import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readText, root, withoutComments } from './repository.js';

const SOURCE = 'packages/core/src';
const source = new Map(
  listFiles(SOURCE, /\.ts$/).map((path) => [path.slice(SOURCE.length + 1), withoutComments(readText(path))]),
);

/** The files in which the pattern occurs, once for each occurrence. */
function occurrences(pattern: RegExp, where: (file: string) => boolean = () => true): string[] {
  return [...source].flatMap(([file, text]) =>
    where(file) ? [...text.matchAll(pattern)].map(() => file) : [],
  );
}

const aboveConnection = (file: string): boolean =>
  !file.startsWith('connection/') && !file.startsWith('telemetry/');

describe('one call path', () => {
  it('finds the source files', () => {
    expect(source.size).toBeGreaterThan(40);
    expect(source.has('calls/call.ts')).toBe(true);
  });

  it('has `tools/call` in one place above the connection', () => {
    expect(occurrences(/(['"`])tools\/call\1/g, aboveConnection)).toEqual(['calls/call.ts']);
    // Below it, only the table of headers and the names of spans have it.
    expect(new Set(occurrences(/(['"`])tools\/call\1/g, (file) => !aboveConnection(file)))).toEqual(
      new Set(['connection/lanes/http-lane.ts', 'telemetry/request-attributes.ts']),
    );
  });

  it('sends from one place', () => {
    expect(new Set(occurrences(/\bsender\.send\(/g))).toEqual(new Set(['calls/call.ts']));
    expect(occurrences(/\bnew Sender\(/g)).toEqual(['runtime/wire.ts']);
    expect(occurrences(/\bnew Calls\(/g)).toEqual(['runtime/wire.ts']);
    expect(occurrences(/await requestWithInput\(/g, aboveConnection)).toEqual(['calls/sending/send.ts']);
    expect(occurrences(/\bcontinueWithInput\(/g, aboveConnection)).toEqual(['calls/sending/lane-request.ts']);
  });

  it('uses a lane above the connection only to send calls and to read lists', () => {
    expect(occurrences(/\blane\.request\(/g, aboveConnection)).toEqual([
      'calls/sending/send.ts',
      'catalog/listing.ts',
    ]);
    expect(new Set(occurrences(/\.lane\b/g, aboveConnection))).toEqual(
      new Set(['catalog/discovery.ts', 'calls/sending/send.ts']),
    );
    // A list reader cannot send a call: its methods are a closed union.
    expect(source.get('catalog/listing.ts')).toMatch(/readonly method: ('[a-z/]+\/list'( \| )?)+;/);
  });

  it('uses the client of the SDK for requests only in the SDK lane', () => {
    expect(occurrences(/\bclient\.(request|callTool|readResource|getPrompt)\(/gi)).toEqual([
      'connection/lanes/sdk-lane.ts',
    ]);
  });

  it('runs native tools from the same place', () => {
    expect(occurrences(/[^#\w]runNative\(/g, (file) => file !== 'calls/native-call.ts')).toEqual([
      'calls/call.ts',
    ]);
  });
});

describe('the library', () => {
  it('never writes to the console', () => {
    expect(occurrences(/\bconsole\./g)).toEqual([]);
    expect(occurrences(/\bprocess\.(stdout|stderr)\b/g)).toEqual([]);
  });
});

/** Words in back-ticks that look like a path of this repository. */
function namedPaths(page: string): string[] {
  const words = [...readText(page).matchAll(/`([^`\s]+)`/g)].map(([, word = '']) => word);
  return words.filter(
    (word) =>
      /^(packages|testing|e2e|bench|examples|docs|scripts)\/[\w./-]*$/.test(word) ||
      /^[\w-]+\.(md|json)$/.test(word),
  );
}

describe('AGENTS.md and docs/architecture.md', () => {
  it.each(['AGENTS.md', 'docs/architecture.md'])('%s names paths that exist', (page) => {
    const paths = namedPaths(page);
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names every directory of the library', () => {
    const directories = new Set(
      [...source.keys()].map((file) => file.split('/')).map(([topDirectory = '']) => topDirectory),
    );
    const page = readText('docs/architecture.md');
    const missing = [...directories].filter(
      (topDirectory) => !page.includes(topDirectory.endsWith('.ts') ? topDirectory : `${topDirectory}/`),
    );
    expect(missing).toEqual([]);
  });

  it('AGENTS.md stays short', () => {
    expect(readText('AGENTS.md').trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  });
});

describe('decisions', () => {
  const decisions = listFiles('docs/decisions', /\.md$/);

  it('are numbered without gaps', () => {
    const numbers = decisions
      .map((path) => Number(/^(\d{4})-[a-z\d-]+\.md$/.exec(basename(path))?.[1]))
      .sort((left, right) => left - right);
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it.each(decisions)('%s is short and complete', (path) => {
    const text = readText(path);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Context', 'Decision', 'Consequences']);
  });
});

describe('file names', () => {
  const BANNED = new Set(
    'manager service handler helper helpers util utils common misc base impl types legacy new'.split(' '),
  );

  it('describe their content', () => {
    const files = ['packages', 'testing', 'e2e', 'bench', 'examples', 'scripts'].flatMap((directory) =>
      listFiles(directory, /\.(ts|tsx|mjs|js)$/),
    );
    expect(files.length).toBeGreaterThan(50);
    const bad = files.filter((file) => file.split(/[/.-]/).some((word) => BANNED.has(word.toLowerCase())));
    expect(bad).toEqual([]);
  });
});

describe('lists of tests', () => {
  /** `a/{b,c}.ts` as `a/b.ts` and `a/c.ts`. */
  const expand = (pattern: string): string[] => {
    const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
    return names === undefined ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
  };

  it.each(['e2e/long-suites.ts', 'e2e/soak/vitest.config.ts'])('%s names files that exist', (list) => {
    const patterns = [...readText(list).matchAll(/'((?:packages|e2e)\/[^']+)'/g)].map(
      ([, path = '']) => path,
    );
    const paths = patterns.flatMap(expand).map((path) => path.replace(/\/\*[^/]*$/, ''));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
