/** Rows of the table of decisions: what flags, secrets and the flows of a run raise. */
import type { Group } from './decision-table.js';
import { type Extras, TOKEN } from './decision-world.js';

const args = (value: Readonly<Record<string, unknown>>): Extras => ({ args: value });
const SHAPED = 'AKIAIOSFODNN7EXAMPLE';
const ORDERS: Extras = { flags: ['instructions'] };
const LIBERAL: Extras = { defaultDecision: 'allow' };

const FLAGGED: readonly Group[] = [
  {
    about: 'a rule fits by the flags of a tool',
    rules: [
      { action: 'deny', flags: ['instructions', 'unscanned'], tool: ['write', 'plain'] },
      { action: 'ask', flags: ['embedded-icon'] },
      { action: 'deny', tool: 'mild' },
      { action: 'allow', tool: ['write', 'again'] },
    ],
    rows: [
      ['a', 'files:write', ORDERS, 'hidden 0'],
      ['host', 'files:write', ORDERS, 'deny 0'],
      ['host', 'files:write', { flags: ['unscanned', 'embedded-icon'] }, 'deny 0'],
      ['host', 'sure:plain', ORDERS, 'deny 0'],
      ['a', 'files:write', 'allow 3'],
      ['a', 'files:write', { flags: ['hidden-characters'] }, 'allow 3'],
      ['a', 'files:again', { flags: ['embedded-icon'] }, 'ask 1'],
      ['host', 'sure:read', { flags: ['embedded-icon'] }, 'ask 1'],
      // The rule is named, also where the default would ask too.
      ['a', 'files:local', { flags: ['embedded-icon'] }, 'ask 1'],
      // What its texts are cannot get a tool past a later deny.
      ['host', 'files:mild', { flags: ['embedded-icon'] }, 'deny 2'],
      ['host', 'sure:mild', { flags: ['embedded-icon'] }, 'deny 2'],
      ['a', 'files:mild', { flags: ['embedded-icon'] }, 'hidden 2'],
      ['a', 'files:doc', { kind: 'resource', flags: ['embedded-icon'] }, 'allow'],
    ],
  },
  {
    about: 'no default lets a flagged tool of a stranger through',
    rules: [{ action: 'allow', tool: 'write' }],
    rows: [
      ['a', 'files:plain', LIBERAL, 'allow'],
      ['a', 'files:plain', { ...LIBERAL, flags: ['instructions'] }, 'ask'],
      ['a', 'files:plain', { ...LIBERAL, flags: ['hidden-characters'] }, 'ask'],
      ['a', 'files:plain', { ...LIBERAL, flags: ['mentions-other-server'] }, 'ask'],
      ['a', 'files:plain', { ...LIBERAL, flags: ['embedded-icon', 'secret-in-header'] }, 'allow'],
      ['a', 'sure:plain', { ...LIBERAL, flags: ['instructions'] }, 'allow'],
      ['a', 'sure:read', ORDERS, 'allow'],
      ['a', 'files:write', { ...LIBERAL, flags: ['instructions'] }, 'allow 0'],
      ['host', 'files:plain', ORDERS, 'allow'],
      ['a', 'files:doc', { kind: 'resource', flags: ['instructions'] }, 'allow'],
      ['a', 'files:plain', { defaultDecision: 'deny', flags: ['instructions'] }, 'deny'],
    ],
  },
];

const SECRETS: readonly Group[] = [
  {
    about: 'a secret that is known does not leave in the arguments of an agent',
    rules: [
      { action: 'allow', tool: 'write' },
      { action: 'allow', tool: 'again', secrets: true },
      { action: 'ask', tool: 'mild', secrets: true },
      { action: 'deny', tool: 'plain' },
    ],
    rows: [
      ['a', 'files:write', args({ text: TOKEN }), 'deny 0'],
      ['a', 'files:write', args({ deep: [{ text: `Bearer ${TOKEN}.` }] }), 'deny 0'],
      ['a', 'files:write', args({ [TOKEN]: 1 }), 'deny 0'],
      ['a', 'files:write', args({ url: `https://h/?q=${encodeURIComponent(TOKEN)}` }), 'deny 0'],
      ['a', 'files:write', args({ text: btoa(`x ${TOKEN}`) }), 'deny 0'],
      ['a', 'files:write', args({ text: TOKEN.slice(0, 8) }), 'allow 0'],
      ['a', 'files:write', args({ text: SHAPED, password: 'x' }), 'allow 0'],
      ['a', 'sure:read', args({ text: TOKEN }), 'deny'],
      ['a', 'files:doc', { kind: 'resource', ...args({ uri: `doc://${TOKEN}` }) }, 'deny'],
      ['a', 'files:read', { ...LIBERAL, ...args({ text: TOKEN }) }, 'deny'],
      ['host', 'files:write', args({ text: TOKEN }), 'allow 0'],
      ['a', 'files:again', args({ text: TOKEN }), 'allow 1'],
      ['a', 'files:mild', args({ text: TOKEN }), 'ask 2'],
      ['a', 'files:plain', args({ text: TOKEN }), 'hidden 3'],
      ['nobody', 'files:write', args({ text: TOKEN }), 'hidden'],
    ],
  },
  {
    about: 'a rule fits by secrets in the arguments, known ones and what looks like one',
    rules: [
      { action: 'deny', secrets: true, tool: 'write' },
      { action: 'ask', secrets: true },
      { action: 'deny', tool: 'plain', arguments: { to: 'x*' } },
      { action: 'allow', tool: ['write', 'again'] },
    ],
    rows: [
      ['host', 'files:write', args({ text: TOKEN }), 'deny 0'],
      // It depends on the arguments: the tool stays known.
      ['a', 'files:write', args({ text: SHAPED }), 'deny 0'],
      ['a', 'files:write', args({ password: 'x' }), 'deny 0'],
      ['a', 'files:write', args({ text: 'nothing' }), 'allow 3'],
      ['a', 'files:again', args({ text: SHAPED }), 'ask 1'],
      ['a', 'files:again', args({ text: TOKEN }), 'ask 1'],
      ['host', 'files:plain', args({ text: TOKEN, to: 'xy' }), 'ask 1'],
      // What only looks like a secret gets nothing past a later deny.
      ['host', 'files:plain', args({ text: SHAPED, to: 'xy' }), 'deny 2'],
    ],
  },
  {
    about: 'the question of a project lowers no guard for secrets',
    rules: [{ action: 'ask', secrets: true }],
    rows: [
      ['a', 'files:write', { from: 'project', ...args({ text: TOKEN }) }, 'deny 0'],
      ['a', 'files:write', { from: 'local', ...args({ text: TOKEN }) }, 'deny 0'],
      ['a', 'sure:read', { from: 'project', ...args({ text: SHAPED }) }, 'ask 0'],
      ['a', 'files:write', args({ text: TOKEN }), 'ask 0'],
    ],
  },
];

const FLOWS: readonly Group[] = [
  {
    about: 'a run that crosses is asked for, whatever allows it, and what is denied stays denied',
    rules: [
      { action: 'allow', tool: 'write' },
      { action: 'deny', tool: 'plain' },
      { action: 'ask', tool: 'mild' },
    ],
    rows: [
      ['a', 'files:write', { flow: 'ask' }, 'ask 0'],
      ['a', 'sure:read', { flow: 'ask' }, 'ask'],
      ['a', 'files:doc', { kind: 'resource', flow: 'ask' }, 'ask'],
      ['a', 'files:write', { flow: 'deny' }, 'deny 0'],
      ['a', 'files:mild', { flow: 'deny' }, 'deny 2'],
      ['a', 'files:mild', { flow: 'ask' }, 'ask 2'],
      ['a', 'files:write', { flow: 'deny', pin: 'changed' }, 'deny 0'],
      ['a', 'files:plain', { flow: 'ask' }, 'hidden 1'],
      ['nobody', 'files:write', { flow: 'ask' }, 'hidden'],
      ['host', 'files:write', { flow: 'deny' }, 'allow 0'],
    ],
  },
];

export const GUARD_DECISIONS: readonly Group[] = [...FLAGGED, ...SECRETS, ...FLOWS];
