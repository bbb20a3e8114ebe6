/** Every command on a page exists, with each of its options. */
import type { ErrorCode } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { GLOBAL_OPTIONS } from '../../src/command.js';
import { COMMANDS } from '../../src/commands.js';
import { PAGES, readText } from './repository.js';

/** Codes that only programs receive: over HTTP, or in their own process. */
const FOR_PROGRAMS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_FAILED',
  'RUNTIME_CLOSED',
  'ORIGIN_REFUSED',
  'PATH_UNKNOWN',
  'METHOD_REFUSED',
  'CONTENT_TYPE_REFUSED',
  'REQUEST_INVALID',
  'REQUEST_TOO_LARGE',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'INTERNAL',
]);

const NAMES = new Map(
  COMMANDS.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => [name, command] as const),
  ),
);

/** The commands in code on a page, such as `turnbuckle rules test --caller x`, up to the end of the shell command. */
function commandsIn(page: string): string[] {
  const code = [
    ...[...page.matchAll(/```(?:sh|bash|console|shell)\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
      text.replace(/\\\n\s*/g, ' ').split('\n'),
    ),
    ...[...page.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  ];
  return code.flatMap((line) =>
    [...line.matchAll(/(?:^|[$|;&(] ?|\s)turnbuckle ([^|;&#>]+)/g)].map(([, words = '']) => words.trim()),
  );
}

function faultsOf(words: string): string[] {
  // A quoted text is one argument, and may contain another command.
  const [own = ''] = words.replace(/'[^']*'|"[^"]*"/g, 'quoted').split(' -- ');
  const [name = '', ...rest] = own.split(/\s+/);
  // A placeholder, a global option, or prose.
  if (!/^[a-z][a-z-]*$/.test(name)) return [];
  const command = NAMES.get(name);
  if (command === undefined) return name === 'help' || name === 'demo-server' ? [] : [`no command: ${words}`];
  const known = { ...GLOBAL_OPTIONS, ...command.options };
  return rest
    .flatMap((word) => /^--([a-z][a-z-]*)/.exec(word)?.[1] ?? [])
    .filter((option) => !Object.hasOwn(known, option) && !['help', 'version'].includes(option))
    .map((option) => `no option --${option}: ${words}`);
}

describe('commands that pages name', () => {
  it('are found, and unknown ones are reported', () => {
    expect(commandsIn('```sh\necho 1 | turnbuckle call a b --json # x\n```\n`turnbuckle lst`')).toEqual([
      'call a b --json',
      'lst',
    ]);
    expect(faultsOf('lst')).toEqual(['no command: lst']);
    expect(faultsOf('list --nope')).toEqual(['no option --nope: list --nope']);
    expect(faultsOf('add x -- npx --yes')).toEqual([]);
  });

  it.each(PAGES)('of %s exist, with their options', (page) => {
    expect(commandsIn(readText(page)).flatMap(faultsOf)).toEqual([]);
  });
});

describe('docs/errors.md', () => {
  const sections = readText('docs/errors.md').split(/^## /m);
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !FOR_PROGRAMS.has(code));

  it.each(codes)('names a command that helps with %s', (code) => {
    const section = sections.find((text) => text.startsWith(`${code}\n`)) ?? '';
    const [, todo = ''] = /\*\*Do:\*\* ([\s\S]*?)\n\n/.exec(section) ?? [];
    const named = commandsIn(todo);
    expect(named).not.toEqual([]);
    expect(named.flatMap(faultsOf)).toEqual([]);
  });
});
