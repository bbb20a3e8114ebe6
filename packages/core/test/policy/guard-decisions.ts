/** Rows of the table of decisions for flags, secrets and flows. */
import type { Group } from './decision-table.js';
import { type Extras, TOKEN } from './decision-world.js';

const args = (value: Readonly<Record<string, unknown>>): Extras => ({ args: value });
const SHAPED = 'AKIAIOSFODNN7EXAMPLE';
const INSTRUCTIONS: Extras = { flags: ['instructions'] };
const ALLOW_BY_DEFAULT: Extras = { defaultDecision: 'allow' };

const FLAGGED: readonly Group[] = [
  {
    about: 'a rule matches by the flags of a tool',
    rules: [
      { action: 'deny', flags: ['instructions', 'unscanned'], tool: ['write', 'plain'] },
      { action: 'ask', flags: ['embedded-icon'] },
      { action: 'deny', tool: 'mild' },
      { action: 'allow', tool: ['write', 'again'] },
    ],
    rows: [
      ['a', 'files:write', INSTRUCTIONS, 'hidden 0'],
      ['host', 'files:write', INSTRUCTIONS, 'deny 0'],
      ['host', 'files:write', { flags: ['unscanned', 'embedded-icon'] }, 'deny 0'],
      ['host', 'sure:plain', INSTRUCTIONS, 'deny 0'],
      ['a', 'files:write', 'allow 3'],
      ['a', 'files:write', { flags: ['hidden-characters'] }, 'allow 3'],
      ['a', 'files:again', { flags: ['embedded-icon'] }, 'ask 1'],
      ['host', 'sure:read', { flags: ['embedded-icon'] }, 'ask 1'],
      // The rule is named, even if the default would ask too.
      ['a', 'files:local', { flags: ['embedded-icon'] }, 'ask 1'],
      // Flags do not let a tool avoid a later deny.
      ['host', 'files:mild', { flags: ['embedded-icon'] }, 'deny 2'],
      ['host', 'sure:mild', { flags: ['embedded-icon'] }, 'deny 2'],
      ['a', 'files:mild', { flags: ['embedded-icon'] }, 'hidden 2'],
      ['a', 'files:doc', { kind: 'resource', flags: ['embedded-icon'] }, 'allow'],
    ],
  },
  {
    about: 'no default allows a flagged tool of an untrusted server',
    rules: [{ action: 'allow', tool: 'write' }],
    rows: [
      ['a', 'files:plain', ALLOW_BY_DEFAULT, 'allow'],
      ['a', 'files:plain', { ...ALLOW_BY_DEFAULT, flags: ['instructions'] }, 'ask'],
      ['a', 'files:plain', { ...ALLOW_BY_DEFAULT, flags: ['hidden-characters'] }, 'ask'],
      ['a', 'files:plain', { ...ALLOW_BY_DEFAULT, flags: ['mentions-other-server'] }, 'ask'],
      ['a', 'files:plain', { ...ALLOW_BY_DEFAULT, flags: ['embedded-icon', 'secret-in-header'] }, 'allow'],
      ['a', 'sure:plain', { ...ALLOW_BY_DEFAULT, flags: ['instructions'] }, 'allow'],
      ['a', 'sure:read', INSTRUCTIONS, 'allow'],
      ['a', 'files:write', { ...ALLOW_BY_DEFAULT, flags: ['instructions'] }, 'allow 0'],
      ['host', 'files:plain', INSTRUCTIONS, 'allow'],
      ['a', 'files:doc', { kind: 'resource', flags: ['instructions'] }, 'allow'],
      ['a', 'files:plain', { defaultDecision: 'deny', flags: ['instructions'] }, 'deny'],
    ],
  },
];

const SECRETS: readonly Group[] = [
  {
    about: 'a known secret is not sent in the arguments of an agent',
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
      ['a', 'files:read', { ...ALLOW_BY_DEFAULT, ...args({ text: TOKEN }) }, 'deny'],
      ['host', 'files:write', args({ text: TOKEN }), 'allow 0'],
      ['a', 'files:again', args({ text: TOKEN }), 'allow 1'],
      ['a', 'files:mild', args({ text: TOKEN }), 'ask 2'],
      ['a', 'files:plain', args({ text: TOKEN }), 'hidden 3'],
      ['nobody', 'files:write', args({ text: TOKEN }), 'hidden'],
    ],
  },
  {
    about: 'a rule matches by known and suspected secrets in the arguments',
    rules: [
      { action: 'deny', secrets: true, tool: 'write' },
      { action: 'ask', secrets: true },
      { action: 'deny', tool: 'plain', arguments: { to: 'x*' } },
      { action: 'allow', tool: ['write', 'again'] },
    ],
    rows: [
      ['host', 'files:write', args({ text: TOKEN }), 'deny 0'],
      // It depends on the arguments: the tool stays visible.
      ['a', 'files:write', args({ text: SHAPED }), 'deny 0'],
      ['a', 'files:write', args({ password: 'x' }), 'deny 0'],
      ['a', 'files:write', args({ text: 'nothing' }), 'allow 3'],
      ['a', 'files:again', args({ text: SHAPED }), 'ask 1'],
      ['a', 'files:again', args({ text: TOKEN }), 'ask 1'],
      ['host', 'files:plain', args({ text: TOKEN, to: 'xy' }), 'ask 1'],
      // A suspected secret does not avoid a later deny.
      ['host', 'files:plain', args({ text: SHAPED, to: 'xy' }), 'deny 2'],
    ],
  },
  {
    about: 'an ask rule of a project does not relax the protection of secrets',
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
    about: 'a flow needs approval even if a rule allows the call, and a denied call stays denied',
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
