/**
 * What a server asks, answered by the person at the terminal. The server's name from the configuration stands
 * above everything, its words stand behind a bar that it cannot leave, and nothing is sent or opened without a yes.
 */
import { select } from '@clack/prompts';
import { type ElicitationRequest, openBrowser, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { askField, type FormValue, LEFT } from './form-question.js';
import type { Output } from './output.js';
import { showLine, showMessage, showText, showWhole } from './untrusted-text.js';

type Form = Extract<ElicitationRequest, { mode: 'form' }>;
type Page = Extract<ElicitationRequest, { mode: 'url' }>;
type Answer = { action: 'accept'; content?: Record<string, FormValue> } | { action: 'decline' | 'cancel' };

/** Answers one question after the other; drawing of anything else waits meanwhile. */
export function createTerminalAnswers({
  output,
}: CommandContext): (request: ElicitationRequest) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = last.then(() => output.ask(() => answerInTerminal(request, output)));
    last = answer.catch(() => {});
    return answer;
  };
}

async function answerInTerminal(request: ElicitationRequest, output: Output): Promise<Answer> {
  if (request.signal.aborted) return { action: 'cancel' };
  output.note(`\n${output.color.bold(showLine(request.server, 60))} asks you:`);
  quote(request.message, output);
  return request.mode === 'form' ? fillIn(request, output) : visit(request, output);
}

/** A server's words: each line behind a bar, so that none of them can pass for ours. */
function quote(words: string, output: Output): void {
  for (const line of showText(words).split('\n')) output.note(`${output.color.dim('  │')} ${line}`);
}

async function decide<Choice extends string>(
  { server, signal }: ElicitationRequest,
  question: string,
  options: ReadonlyArray<{ value: Choice; label: string }>,
): Promise<Choice | undefined> {
  const message = question.replace('{server}', `"${showLine(server, 60)}"`);
  const answer = await select<string>({
    message,
    options: options.map(({ value, label }) => ({ value, label })),
    signal,
    output: process.stderr,
    withGuide: false,
  });
  return options.find(({ value }) => value === answer)?.value;
}

const DECLINE = { value: 'decline', label: 'Decline' } as const;

async function fillIn(request: Form, output: Output): Promise<Answer> {
  const { properties, required = [] } = request.requestedSchema;
  const fields = Object.entries(properties);
  const begin = { value: 'answer', label: fields.length === 0 ? 'Yes' : 'Answer' } as const;
  const begun = await decide(request, 'Answer {server}?', [begin, DECLINE]);
  if (begun !== 'answer') return { action: begun ?? 'cancel' };
  const content: [string, FormValue][] = [];
  for (const [name, field] of fields) {
    if (field.description !== undefined) quote(field.description, output);
    const { server, signal } = request;
    const value = await askField({ server, name, field, required: required.includes(name), signal });
    if (value === LEFT) return { action: 'cancel' };
    if (value !== undefined) content.push([name, value]);
  }
  if (fields.length === 0) return { action: 'accept', content: {} };
  for (const [name, value] of content)
    output.note(
      `  ${showLine(properties[name]?.title ?? name, 60)}: ${showLine(JSON.stringify(value), 300)}`,
    );
  const sent = await decide(request, 'Send this to {server}?', [{ value: 'send', label: 'Send' }, DECLINE]);
  return sent === 'send'
    ? { action: 'accept', content: Object.fromEntries(content) }
    : { action: sent ?? 'cancel' };
}

async function visit(request: Page, output: Output): Promise<Answer> {
  const { url, host } = request;
  output.note(`It wants you to visit a page of ${output.color.bold(showLine(host, 255))}:`);
  output.note(`  ${showWhole(url)}`);
  const choice = await decide(request, 'Open it for {server}?', [
    DECLINE,
    { value: 'open', label: 'Open it in the browser' },
    { value: 'self', label: 'I open it myself' },
  ]);
  if (choice === undefined || choice === 'decline') return { action: choice ?? 'cancel' };
  if (choice === 'open') {
    await openBrowser(url).catch((error: unknown) => {
      const { message, hint = '' } = error instanceof TurnbuckleError ? error : { message: String(error) };
      output.warn(`${output.color.yellow('warning')} ${showMessage(message)} ${showMessage(hint)}`);
    });
  }
  return { action: 'accept' };
}
