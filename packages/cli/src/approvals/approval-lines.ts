/**
 * What a person has to see before a call is approved, as lines. Everything that an agent or a server wrote
 * stands behind a bar that it cannot leave, in lines that fit the screen.
 */
import type { ApprovalAnswer, ApprovalRequest } from 'turnbuckle';
import { displayWidth } from './display-width.js';
import { showLine, showText } from './untrusted-text.js';

const BAR = '  │ ';
/** A text of several lines: each begins like this, so that none of them can pass for another argument. */
const TEXT_LINE = '  ┊ ';

/** Who wants to call what. `host` is whose call it is when it is no agent's. */
export function titleOf({ callerId, tool, kind }: ApprovalRequest, host: string): string {
  const who = callerId === undefined ? host : showLine(callerId, 60);
  return `${who} wants to ${kind === 'tool' ? 'call' : 'read'} ${showLine(tool, 100)}`;
}

/** Of which server it is, and why somebody is asked. */
export function factLines(asked: ApprovalRequest, width: number): string[] {
  const { server, trusted, reason } = asked;
  return [
    ...fact('server', `${showLine(server, 60)}${trusted ? '' : ' (untrusted)'}`, width),
    ...fact('reason', `${showLine(reason, 300)}${askingPlace(asked)}`, width),
  ];
}

/** Where the rule stands that asks, in brackets. One that allows is not why somebody is asked. */
export function askingPlace({ rule }: Pick<ApprovalRequest, 'rule'>): string {
  if (rule?.action !== 'ask' || rule.file === undefined) return '';
  return ` (${showLine(`${rule.file}:${rule.line ?? 1}`, 200)})`;
}

const LABEL_COLUMNS = 13;

const fact = (label: string, text: string, width: number): string[] =>
  indented(`  ${label}`.padEnd(LABEL_COLUMNS) + text, width, LABEL_COLUMNS);

/** In lines that fit, all but the first indented: names are foreign too, and none may begin a line of its own. */
export function indented(text: string, width: number, indent: number): string[] {
  const [first = '', ...rest] = wrapped(text, width);
  const others = rest.length === 0 ? [] : wrapped(rest.join(''), width - indent);
  return [first, ...others.map((line) => ' '.repeat(indent) + line)];
}

const WORDS: Readonly<Record<Exclude<ApprovalAnswer, 'session'>, string>> = {
  once: 'Allowed, this time.',
  always: 'Allowed from now on.',
  deny: 'Not allowed.',
};

/** What an answer did. `session`: what ends with the session that was answered for. */
export const answerWords = (answer: ApprovalAnswer, session: string): string =>
  answer === 'session' ? `Allowed until ${session} ends.` : WORDS[answer];

const CLAIMS: ReadonlyArray<readonly [hint: string, yes: string, no: string]> = [
  ['readOnlyHint', 'only reads', 'writes'],
  ['destructiveHint', 'may destroy', 'destroys nothing'],
  ['idempotentHint', 'may be repeated', 'repeating adds up'],
  ['openWorldHint', 'reaches the network', 'does not reach the network'],
];

/** What the tool says about itself, or that it says nothing. */
export function claimLine({ annotations = {}, kind }: ApprovalRequest): string[] {
  if (kind !== 'tool') return [];
  const said = CLAIMS.flatMap(([hint, yes, no]) =>
    typeof annotations[hint] === 'boolean' ? [annotations[hint] ? yes : no] : [],
  );
  return [`  it says    ${said.length === 0 ? 'nothing about itself' : said.join(', ')}`];
}

/** What changed since it was approved. */
export const changeLines = ({ change = [] }: ApprovalRequest, width: number): string[] =>
  change.flatMap((line) => barred(line, width));

/** The arguments. */
export const argumentLines = ({ arguments: args }: ApprovalRequest, width: number): string[] =>
  memberLines(args, width);

/** What goes to the server beside the arguments. */
export const alsoSentLines = ({ alsoSent = {} }: ApprovalRequest, width: number): string[] =>
  memberLines(alsoSent, width);

function memberLines(members: ApprovalRequest['arguments'], width: number): string[] {
  return Object.entries(members).flatMap(([key, value]) => {
    const name = showLine(key, 100);
    if (typeof value !== 'string' || !value.includes('\n'))
      return barred(`${name}: ${JSON.stringify(value, null, 2) ?? 'undefined'}`, width);
    const lines = showText(value).split('\n');
    return [
      ...barred(`${name}: ${lines.length} lines`, width),
      ...lines
        .flatMap((line) => wrapped(line, width - displayWidth(TEXT_LINE) - 4))
        .map((line) => `${BAR}${TEXT_LINE}${line}`),
    ];
  });
}

/** That not all of it can be shown, and how much is missing. */
export function cutLines({ isCut = false, notShown }: ApprovalRequest, width: number): string[] {
  if (!isCut) return [];
  const { characters = 0, members = 0 } = notShown ?? {};
  const parts = [
    ...(characters > 0 ? [`${characters} characters`] : []),
    ...(members > 0 ? [`${members} ${members === 1 ? 'part' : 'parts'}`] : []),
  ];
  return fact('not shown', `${parts.join(' and ')}; it can be allowed only once`, width);
}

const barred = (text: string, width: number): string[] =>
  showText(text)
    .split('\n')
    .flatMap((line) => wrapped(line, width - displayWidth(BAR)))
    .map((line) => `${BAR}${line}`);

/** A line cut into pieces that fit: nothing runs out of sight. */
function wrapped(line: string, width: number): string[] {
  const room = Math.max(width, 20);
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of line.replaceAll('\t', '    ')) {
    const columns = displayWidth(character);
    if (used + columns > room) {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece];
}
