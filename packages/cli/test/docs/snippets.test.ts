import { afterAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './play-page.js';
import { readText, root } from './repository.js';
import { countMarks, findSteps, type Step } from './shell-blocks.js';

/** Each page runs from top to end, in its own home. */
const PAGES = [
  { page: 'docs/command-line.md', directory: undefined },
  { page: 'docs/importing.md', directory: undefined },
  { page: 'docs/secrets.md', directory: undefined },
  { page: 'docs/permissions.md', directory: undefined },
  { page: 'docs/daemon.md', directory: undefined },
  { page: 'docs/incidents.md', directory: undefined },
  { page: 'docs/energy.md', directory: undefined },
  { page: 'docs/finding-servers.md', directory: undefined },
  { page: 'docs/steward.md', directory: undefined },
  { page: 'README.md', directory: root },
].map((one) => ({ ...one, steps: findSteps(one.page, readText(one.page)) }));

const commandsOf = (steps: readonly Step[]) =>
  steps.flatMap((step) => (step.kind === 'shell' ? step.commands : []));

describe('the shell blocks of the pages', () => {
  it.each(PAGES)('are found in $page', ({ steps }) => {
    expect(commandsOf(steps)).not.toEqual([]);
  });

  it('show at least five turnbuckle commands', () => {
    const lines = PAGES.flatMap(({ steps }) => commandsOf(steps)).map(({ command }) => command);
    const used = lines
      .map((line) => /\bturnbuckle (\w+)/.exec(line)?.[1])
      .filter((name) => name !== undefined);
    expect(new Set(used).size).toBeGreaterThanOrEqual(5);
  });

  it.each(PAGES)('follow every mark in $page', ({ page, steps }) => {
    expect(countMarks(readText(page))).toBe(steps.length);
  });

  it('are refused when they do not begin with a command', () => {
    const text = '<!-- shell -->\n```console\nturnbuckle list\n```\n';
    expect(() => findSteps('made-up.md', text)).toThrow('made-up.md:2');
  });

  it('are compared with the real output and exit code', async () => {
    const stage = openStage();
    const text = '<!-- shell -->\n```console\n$ turnbuckle lst\n$ echo $?\n```\n';
    const [step] = findSteps('made-up.md', text);
    if (step === undefined) throw new Error('No block was found');
    const [first, second] = await stage.play(step).finally(stage.close);
    expect(first?.output.join('\n')).toContain('Unknown command "lst".');
    expect(second).toEqual({ command: 'echo $?', output: ['2'] });
  });
});

describe.each(PAGES)('$page', ({ page, directory, steps }) => {
  let stage: Stage | undefined;
  afterAll(() => stage?.close());

  it.each(steps.map((step) => [`${page}:${step.line}`, step] as const))(
    'prints what the page shows: %s',
    async (_, step) => {
      stage ??= openStage(directory);
      const played = await stage.play(step);
      expect(played).toEqual(step.kind === 'shell' ? step.commands : []);
    },
    90_000,
  );
});
