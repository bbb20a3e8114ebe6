/** Asks a person, and lets the step wait until there is an answer. */
import { createHash } from 'node:crypto';
import { TurnbuckleError } from 'turnbuckle';
import type { InputField } from '../install/entry-template.js';
import type { InstallApproval } from '../queue/install-approvals.js';
import type { StepContext } from '../workers/step.js';
import { entryText } from './entry-diff.js';
import type { WorkServices } from './services.js';

export interface Question {
  readonly step: string;
  /** What the person reads; every text in it may be untrusted. */
  readonly subject: ApprovalSubject;
  readonly fields?: readonly InputField[] | undefined;
}

/** What would happen after a yes. */
export interface ApprovalSubject {
  readonly action: 'install' | 'enable' | 'modify' | 'remove';
  readonly server: string;
  readonly summary: string;
  /** The exact command or address, or the lines of a diff. */
  readonly details: readonly string[];
  readonly warnings: readonly string[];
  readonly requestedBy?: string;
  /** The hash of the entry that the question is about. */
  readonly entryHash?: string;
}

type Context = Pick<StepContext<WorkServices>, 'request' | 'services'>;

/** The same about an entry. CONFIG_INVALID if it has changed since the person was asked. */
export function askAboutEntry(
  context: Context,
  { step, subject }: Pick<Question, 'step' | 'subject'>,
  entry: Readonly<Record<string, unknown>>,
): InstallApproval | undefined {
  const entryHash = createHash('sha256').update(entryText(entry)).digest('hex');
  const approval = askPerson(context, { step, subject: { ...subject, entryHash } });
  if (approval === undefined) return undefined;
  if ((Object(approval.subject) as { entryHash?: unknown }).entryHash !== entryHash)
    throw entryChanged(subject.server);
  return approval;
}

export const entryChanged = (server: string): TurnbuckleError =>
  new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" was changed in the config file after approval was requested.`,
    { server, hint: 'Nothing was changed. Send the request again to see what it would do now.' },
  );

/** The approval once it is answered with yes; undefined: not answered yet. CALL_DENIED for a no. */
export function askPerson(
  { request, services }: Context,
  { step, subject, fields = [] }: Question,
): InstallApproval | undefined {
  const asked = services.approvals.ask(toInstallQuestion({ request, services }, { step, subject, fields }));
  if (asked.answer === undefined) return undefined;
  if (asked.answer === 'yes') return asked;
  throw new TurnbuckleError(
    'CALL_DENIED',
    `${subject.summary} was not approved (${asked.answer}${asked.answeredBy === undefined ? '' : ` by ${asked.answeredBy}`}).`,
    { server: subject.server, hint: 'Nothing was changed. Send another request if you need something else.' },
  );
}

/** The same question again, with another warning: the yes to it cannot be used. */
export function askPersonAgain(context: Context, { subject, ...question }: Question, warning: string): void {
  const warned = { ...subject, warnings: [warning, ...subject.warnings] };
  context.services.approvals.askAgain(toInstallQuestion(context, { ...question, subject: warned }));
}

function toInstallQuestion({ request, services }: Context, { step, subject, fields = [] }: Question) {
  const { requestedBy } = request;
  return {
    step,
    subject: { ...subject, ...(requestedBy !== undefined && { requestedBy }) },
    fields,
    expiresAt: services.now() + services.work.approvalMs,
  };
}
