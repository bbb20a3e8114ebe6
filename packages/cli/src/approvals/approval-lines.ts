/**
 * What a person has to see before a call is approved, as lines. Everything that an agent or a server wrote
 * stands behind a bar that it cannot leave, in lines that fit the screen.
 */
import type { ApprovalAnswer, ApprovalRequest } from 'turnbuckle';
import { displayWidth } from '../terminal/display-width.js';
import { showLine, showText } from '../terminal/untrusted-text.js';

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
    ...fact('reason', `${showLine(reason, 300)}${askingRuleLocation(asked)}`, width),
  ];
}

/** Where the rule stands that asks, in brackets. One that allows is not why somebody is asked. */
export function askingRuleLocation({ rule }: Pick<ApprovalRequest, 'rule'>): string {
  if (rule?.action !== 'ask' || rule.file === undefined) return '';
  return ` (${showLine(`${rule.file}:${rule.line ?? 1}`, 200)})`;
}

const LABEL_COLUMNS = 15;

const fact = (label: string, text: string, width: number): string[] =>
  wrapIndented(`  ${label}`.padEnd(LABEL_COLUMNS) + text, width, LABEL_COLUMNS);

/** In lines that fit, all but the first indented: names are foreign too, and none may begin a line of its own. */
export function wrapIndented(text: string, width: number, indent: number): string[] {
  const [first = '', ...rest] = hardWrap(text, width);
  const others = rest.length === 0 ? [] : hardWrap(rest.join(''), width - indent);
  return [first, ...others.map((line) => ' '.repeat(indent) + line)];
}

const ANSWER_TEXTS: Readonly<Record<Exclude<ApprovalAnswer, 'session'>, string>> = {
  once: 'Allowed once.',
  always: 'Allowed from now on.',
  deny: 'Denied.',
};

/** What an answer did. `session`: what ends with the session that was answered for. */
export const answerText = (answer: ApprovalAnswer, session: string): string =>
  answer === 'session' ? `Allowed until ${session} ends.` : ANSWER_TEXTS[answer];

const ANNOTATION_TEXTS: ReadonlyArray<readonly [hint: string, yes: string, no: string]> = [
  ['readOnlyHint', 'read-only', 'not read-only'],
  ['destructiveHint', 'destructive', 'not destructive'],
  ['idempotentHint', 'idempotent', 'not idempotent'],
  ['openWorldHint', 'network access', 'no network access'],
];

/** The annotations of the tool. */
export function annotationLine({ annotations = {}, kind }: ApprovalRequest): string[] {
  if (kind !== 'tool') return [];
  const said = ANNOTATION_TEXTS.flatMap(([hint, yes, no]) =>
    typeof annotations[hint] === 'boolean' ? [annotations[hint] ? yes : no] : [],
  );
  return [`${'  annotations'.padEnd(LABEL_COLUMNS)}${said.length === 0 ? 'none' : said.join(', ')}`];
}

/** What changed since it was approved. */
export const changeLines = ({ change = [] }: ApprovalRequest, width: number): string[] =>
  change.flatMap((line) => withBar(line, width));

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
      return withBar(`${name}: ${JSON.stringify(value, null, 2) ?? 'undefined'}`, width);
    const lines = showText(value).split('\n');
    return [
      ...withBar(`${name}: ${lines.length} lines`, width),
      ...lines
        .flatMap((line) => hardWrap(line, width - displayWidth(TEXT_LINE) - 4))
        .map((line) => `${BAR}${TEXT_LINE}${line}`),
    ];
  });
}

/** That not all of it can be shown, and how much is missing. */
export function truncationLines({ isCut = false, notShown }: ApprovalRequest, width: number): string[] {
  if (!isCut) return [];
  const { characters = 0, members = 0 } = notShown ?? {};
  const parts = [
    ...(characters > 0 ? [`${characters} characters`] : []),
    ...(members > 0 ? [`${members} ${members === 1 ? 'value' : 'values'}`] : []),
  ];
  return fact('not shown', `${parts.join(' and ')}; the only way to allow this call is once`, width);
}

const withBar = (text: string, width: number): string[] =>
  showText(text)
    .split('\n')
    .flatMap((line) => hardWrap(line, width - displayWidth(BAR)))
    .map((line) => `${BAR}${line}`);

/** A line cut into pieces that fit: nothing runs out of sight. */
function hardWrap(line: string, width: number): string[] {
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
