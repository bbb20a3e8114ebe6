import fc from 'fast-check';
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { watchServers } from './watched-servers.js';

const error = (code: ErrorCode, hint?: string, data?: Record<string, unknown>): TurnbuckleError =>
  new TurnbuckleError(code, `It is ${code}.`, { server: 'a b', hint, data });

describe('each kind of incident of a server', () => {
  // requirement C5
  it.each([
    ['CONNECT_FAILED', 'error', 'server-failed', "Check the server: turnbuckle doctor 'a b'"],
    ['SERVER_EXITED', 'error', 'server-failed', "Check the server: turnbuckle doctor 'a b'"],
    ['AUTH_REQUIRED', 'warn', 'sign-in-needed', "Sign in: turnbuckle login 'a b'"],
    ['AUTH_FAILED', 'error', 'server-failed', "Check the server: turnbuckle doctor 'a b'"],
    ['SANDBOX_UNAVAILABLE', 'error', 'sandbox-missing', "Check the sandbox: turnbuckle doctor 'a b'"],
    ['SERVER_FLOODED', 'error', 'server-flooded', "See what it sends: turnbuckle logs 'a b'"],
    ['CONFIG_INVALID', 'error', 'entry-invalid', "Check the configuration: turnbuckle doctor 'a b'"],
    ['VARIABLE_MISSING', 'error', 'entry-invalid', "Check the configuration: turnbuckle doctor 'a b'"],
    ['TRUST_REQUIRED', 'warn', 'entry-invalid', "Check the configuration: turnbuckle doctor 'a b'"],
    ['SERVER_LIMIT', 'error', 'entry-invalid', "Check the configuration: turnbuckle doctor 'a b'"],
  ] as const)('%s is reported once, with the next step', (code, level, kind, next) => {
    const { reported, emit } = watchServers(['a b']);
    emit('server.failed', { server: 'a b', error: error(code) });
    emit('server.state', { server: 'a b', from: 'connecting', to: 'failed', error: error(code) });
    emit('server.failed', { server: 'a b', error: error(code) });
    expect(reported).toEqual([{ level, kind, server: 'a b', code, text: `It is ${code}.`, next }]);
  });

  it('keeps the hint of the error, and adds a command only where it has none', () => {
    const { reported, emit } = watchServers(['a', 'b']);
    emit('server.failed', { server: 'a', error: error('CONNECT_FAILED', 'Start it.') });
    emit('server.failed', { server: 'b', error: error('CONNECT_FAILED', 'Run: turnbuckle config b') });
    expect(reported.map(({ next }) => next)).toEqual([
      'Start it. Check the server: turnbuckle doctor a',
      'Run: turnbuckle config b',
    ]);
  });

  it('never takes what the server wrote for a next step', () => {
    const { reported, emit } = watchServers(['a']);
    const stderr = 'Run: turnbuckle rules allow agents';
    const hint = `The server's stderr: ${stderr}`;
    emit('server.failed', { server: 'a', error: error('SERVER_EXITED', hint, { stderr }) });
    expect(reported).toMatchObject([
      { text: `It is SERVER_EXITED. ${hint}`, next: 'Check the server: turnbuckle doctor a' },
    ]);
  });

  it('reports the problems that there are at the start', () => {
    const problem = error('CONFIG_INVALID');
    const { reported } = watchServers(
      ['a', 'b'],
      [
        { name: 'a', status: 'failed', problem },
        { name: 'b', status: 'pending' },
      ],
    );
    expect(reported).toMatchObject([{ kind: 'entry-invalid', server: 'a' }]);
  });

  it('reports a sign-in that becomes necessary while the server is connected or failing', () => {
    const { reported, emit } = watchServers(['a']);
    emit('server.failed', { server: 'a', error: error('CONNECT_FAILED') });
    emit('server.state', {
      server: 'a',
      from: 'connecting',
      to: 'needs-auth',
      error: error('AUTH_REQUIRED'),
    });
    emit('server.state', { server: 'a', from: 'connecting', to: 'ready', error: undefined });
    emit('server.state', { server: 'a', from: 'ready', to: 'needs-auth', error: error('AUTH_REQUIRED') });
    expect(reported.map(({ kind }) => kind)).toEqual([
      'server-failed',
      'sign-in-needed',
      'server-recovered',
      'sign-in-needed',
    ]);
  });

  it('says nothing of a link that breaks and is open again', () => {
    const { reported, emit } = watchServers(['a']);
    emit('server.state', { server: 'a', from: 'ready', to: 'waiting', error: error('CONNECTION_LOST') });
    emit('server.state', { server: 'a', from: 'waiting', to: 'connecting', error: undefined });
    emit('server.state', { server: 'a', from: 'connecting', to: 'ready', error: undefined });
    expect(reported).toEqual([]);
  });

  it('reports how long a failure took', () => {
    const { reported, emit, clock } = watchServers(['a']);
    emit('server.failed', { server: 'a', error: error('CONNECT_FAILED') });
    clock.now = 61_400;
    emit('server.state', { server: 'a', from: 'connecting', to: 'ready', error: undefined });
    expect(reported.at(-1)).toEqual({
      level: 'info',
      kind: 'server-recovered',
      server: 'a',
      text: 'Server "a" is connected again after failing for 61 s.',
    });
  });

  it('reports an entry that becomes invalid while the server runs, each problem once, and its end', () => {
    const { reported, emit } = watchServers(['a']);
    for (const problem of [
      error('CONFIG_INVALID'),
      error('CONFIG_INVALID'),
      error('SERVER_LIMIT'),
      undefined,
    ])
      emit('server.config', { server: 'a', problem });
    expect(reported.map(({ kind, text }) => [kind, text])).toEqual([
      ['entry-invalid', 'It is CONFIG_INVALID. Server "a" keeps its previous configuration.'],
      ['entry-invalid', 'It is SERVER_LIMIT. Server "a" keeps its previous configuration.'],
      ['entry-valid', 'The configuration for server "a" is valid again.'],
    ]);
  });

  it('reports approvals that cannot be saved, and errors of listeners', () => {
    const { reported, emit } = watchServers(['a']);
    emit('approval.lost', { server: 'a', tool: 't', error: new Error('disk full') });
    emit('listener.failed', { event: 'call.settled', error: new Error('oh') });
    expect(reported).toMatchObject([
      { level: 'warn', kind: 'approval-lost', text: expect.stringContaining('disk full') },
      {
        level: 'error',
        kind: 'internal-error',
        text: expect.stringContaining('in "call.settled": Error: oh'),
      },
    ]);
  });
});

describe('changed tools', () => {
  const none = { server: 'a', kind: 'tools', added: [], removed: [], changed: [] } as const;

  it('are reported with their names, but not the first list', () => {
    const { reported, emit } = watchServers(['a']);
    emit('catalog.changed', { ...none, added: ['one', 'two'] });
    emit('catalog.changed', { ...none, added: ['x'], removed: ['one'], changed: ['two'] });
    emit('catalog.changed', { ...none, kind: 'prompts', added: ['p'] });
    expect(reported).toEqual([
      {
        level: 'info',
        kind: 'tools-changed',
        server: 'a',
        text: 'Server "a" changed its tools: added "x"; removed "one"; changed "two".',
        next: 'List its tools: turnbuckle tools a',
      },
    ]);
  });

  it('say which ones need approval, also in the first list', () => {
    const { reported, emit, unapproved } = watchServers(['a']);
    unapproved.add('two');
    emit('catalog.changed', { ...none, added: ['one', 'two'] });
    emit('catalog.changed', { ...none, changed: ['two'] });
    expect(reported.map(({ level, text }) => [level, text])).toEqual([
      ['warn', expect.stringMatching(/^These tools on server "a" need your approval.*: "two"\.$/)],
      [
        'warn',
        expect.stringMatching(/^Server "a" changed its tools: changed "two"\. These tools .*: "two"\.$/),
      ],
    ]);
    expect(reported[0]?.next).toContain('turnbuckle rules pin a');
  });

  it('are few, short and harmless in the text, however many there are', () => {
    const { reported, emit } = watchServers(['a']);
    emit('catalog.changed', { ...none, added: ['one'] });
    const added = Array.from({ length: 1_000 }, (_, index) => `\u001b[2J${'x'.repeat(10_000)}${index}`);
    emit('catalog.changed', { ...none, added });
    expect(reported[0]?.text.length).toBeLessThan(600);
    expect(reported[0]?.text).not.toContain('\u001b');
    expect(reported[0]?.text).toMatch(/ and 995 more\.$/);
  });

  it('are not reported of a server that is disabled, enabled, removed or replaced', () => {
    const { reported, emit, disabled } = watchServers(['a']);
    emit('catalog.changed', { ...none, added: ['one'] });
    disabled.add('a');
    emit('catalog.changed', { ...none, removed: ['one'] });
    disabled.delete('a');
    emit('catalog.changed', { ...none, added: ['one'] });
    emit('server.removed', { server: 'a' });
    emit('catalog.changed', { ...none, added: ['two'] });
    emit('catalog.changed', { ...none, server: 'gone', removed: ['two'] });
    expect(reported).toEqual([]);
  });
});

const CODES = [
  'CONNECT_FAILED',
  'SERVER_EXITED',
  'AUTH_REQUIRED',
  'SERVER_FLOODED',
  'CONFIG_INVALID',
] as const;
const KIND_OF = {
  CONNECT_FAILED: 'server-failed',
  SERVER_EXITED: 'server-failed',
  AUTH_REQUIRED: 'sign-in-needed',
  SERVER_FLOODED: 'server-flooded',
  CONFIG_INVALID: 'entry-invalid',
};

type Step =
  | { readonly do: 'fail'; readonly code: (typeof CODES)[number]; readonly by: 'event' | 'state' }
  | { readonly do: 'ready' | 'waiting' | 'remove' | 'replace' | 'disable' | 'enable' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      code: fc.constantFrom(...CODES),
      by: fc.constantFrom('event' as const, 'state' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'ready' as const,
        'waiting' as const,
        'remove' as const,
        'replace' as const,
        'disable' as const,
        'enable' as const,
      ),
    }),
  },
);

/** What has to be reported: of each outage every kind once, and again after the server is replaced, then its end. */
function expected(steps: readonly Step[]): string[] {
  const kinds: string[] = [];
  let outage = new Set<string>();
  let isOut = false;
  let isEnabled = true;
  for (const step of steps) {
    if (step.do === 'fail') {
      const kind = KIND_OF[step.code];
      if (isEnabled && !outage.has(kind)) kinds.push(kind);
      if (isEnabled) outage.add(kind);
      isOut ||= isEnabled;
    } else if (step.do !== 'waiting') {
      if (step.do === 'ready' && isOut) kinds.push('server-recovered');
      isOut &&= step.do === 'replace';
      if (step.do !== 'ready') isEnabled = step.do !== 'disable';
      outage = new Set();
    }
  }
  return kinds;
}

it('any sequence of state changes yields exactly one report for each incident', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), STEP), { maxLength: 60 }), (steps) => {
      const { reported, emit } = watchServers(['a', 'b']);
      for (const [server, step] of steps) {
        if (step.do === 'fail' && step.by === 'event')
          emit('server.failed', { server, error: error(step.code) });
        else if (step.do === 'fail')
          emit('server.state', { server, from: 'connecting', to: 'failed', error: error(step.code) });
        else if (step.do === 'remove') emit('server.removed', { server });
        else if (step.do === 'replace') {
          emit('server.removed', { server });
          emit('server.added', { server });
        } else if (step.do === 'disable' || step.do === 'enable')
          emit('server.toggled', { server, enabled: step.do === 'enable' });
        else emit('server.state', { server, from: 'connecting', to: step.do, error: undefined });
      }
      for (const server of ['a', 'b'])
        expect(reported.filter((one) => one.server === server).map(({ kind }) => kind)).toEqual(
          expected(steps.filter(([name]) => name === server).map(([, step]) => step)),
        );
    }),
    { numRuns: 500 },
  );
});
