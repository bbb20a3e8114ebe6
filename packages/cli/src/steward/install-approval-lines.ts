/** What the steward asks a person, as lines: everything in full, and nothing of it can pass for a line of ours. */
import type { ApprovalSubject, InputField, InstallApproval } from '@turnbuckle/steward';
import { wrapIndented } from '../approvals/approval-lines.js';
import type { Output } from '../terminal/output.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showFullLine, showLine } from '../terminal/untrusted-text.js';

const BAR = '  │ ';
const DEFAULT_WIDTH = 100;

/** The approval as the daemon sends it. */
export interface PendingInstall extends InstallApproval {
  readonly subject: ApprovalSubject;
  readonly fields: readonly InputField[];
}

export interface ShownInstall {
  /** Where the lines go: the result of a command, or what a question is about. */
  readonly write: (line: string) => void;
  readonly width: number;
  readonly color: Output['color'];
}

/** To the result. Elsewhere than on a terminal lines are as long as they are. */
export const asResult = ({ line, width, color }: Output): ShownInstall => ({
  write: line,
  width: Number.isFinite(width) ? width - 1 : Number.POSITIVE_INFINITY,
  color,
});

/** To the terminal, above a question. */
export const asQuestion = ({ note, color }: Output): ShownInstall => ({
  write: note,
  width: (process.stderr.columns || DEFAULT_WIDTH) - 1,
  color,
});

export function showInstallApproval(
  { id, subject, fields, expiresAt }: PendingInstall,
  { write, width, color }: ShownInstall,
): void {
  const bar = (text: string): void => {
    for (const line of wrapIndented(BAR + showFullLine(text), width, BAR.length + 2)) write(line);
  };
  const [title = '', ...rest] = wrapIndented(
    `${showLine(id, 60)}  ${showFullLine(subject.summary)}`,
    width,
    4,
  );
  write(color.bold(title));
  for (const line of rest) write(line);
  for (const detail of subject.details) bar(detail);
  for (const warning of subject.warnings)
    for (const line of wrapIndented(`  warning: ${showFullLine(warning)}`, width, 4))
      write(color.yellow(line));
  for (const field of fields) for (const line of wrapIndented(`  ${fieldText(field)}`, width, 4)) write(line);
  const by = subject.requestedBy === undefined ? 'you' : showLine(subject.requestedBy, 60);
  write(color.dim(`  requested by ${by}, expires ${formatTimestamp(expiresAt)}`));
}

function fieldText({ name, isSecret, isRequired, description, default: usual, choices }: InputField): string {
  const traits = [
    isRequired ? 'required' : 'optional',
    ...(isSecret ? ['secret'] : []),
    ...(usual === undefined ? [] : [`default ${showLine(usual, 100)}`]),
    ...(choices === undefined || choices.length === 0 ? [] : [`one of ${showLine(choices.join(', '), 200)}`]),
  ];
  const what = description === undefined ? '' : `: ${showLine(description, 300)}`;
  return `field ${showFullLine(name)} (${traits.join(', ')})${what}`;
}
