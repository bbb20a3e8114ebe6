/**
 * What a server asks, answered by the person at the terminal. The server's name from the configuration stands
 * above everything, its words stand behind a bar that it cannot leave, and nothing is sent or opened without a yes.
 */
import { select } from '@clack/prompts';
import { TurnbuckleError } from 'turnbuckle';
import { createSerialQueue, type ElicitationRequest, openBrowser } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { askField, CANCELLED, type FormValue } from '../terminal/ask-form-field.js';
import type { Output } from '../terminal/output.js';
import { showFullLine, showLine, showMessage, showText } from '../terminal/untrusted-text.js';

type FormRequest = Extract<ElicitationRequest, { mode: 'form' }>;
type UrlRequest = Extract<ElicitationRequest, { mode: 'url' }>;
type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, FormValue> }
  | { action: 'decline' | 'cancel' };

/** Answers one question after the other; drawing of anything else waits meanwhile. */
export function createTerminalElicitation({
  output,
}: CommandContext): (request: ElicitationRequest) => Promise<ElicitationAnswer> {
  const enqueue = createSerialQueue();
  return (request) => enqueue(() => output.ask(() => elicitInTerminal(request, output)));
}

async function elicitInTerminal(request: ElicitationRequest, output: Output): Promise<ElicitationAnswer> {
  if (request.signal.aborted) return { action: 'cancel' };
  output.note(`\n${output.color.bold(showLine(request.server, 60))} asks you:`);
  quote(request.message, output);
  return request.mode === 'form' ? answerForm(request, output) : answerUrl(request, output);
}

/** Text of a server, each line behind a bar, so that it cannot pass for ours. */
function quote(words: string, output: Output): void {
  for (const line of showText(words).split('\n')) output.note(`${output.color.dim('  │')} ${line}`);
}

async function selectOption<Choice extends string>(
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

async function answerForm(request: FormRequest, output: Output): Promise<ElicitationAnswer> {
  const { properties, required = [] } = request.requestedSchema;
  const fields = Object.entries(properties);
  const begin = { value: 'answer', label: fields.length === 0 ? 'Yes' : 'Answer' } as const;
  const begun = await selectOption(request, 'Answer {server}?', [begin, DECLINE]);
  if (begun !== 'answer') return { action: begun ?? 'cancel' };
  const content: [string, FormValue][] = [];
  for (const [name, field] of fields) {
    if (field.description !== undefined) quote(field.description, output);
    const { server, signal } = request;
    const value = await askField({ server, name, field, required: required.includes(name), signal });
    if (value === CANCELLED) return { action: 'cancel' };
    if (value !== undefined) content.push([name, value]);
  }
  if (fields.length === 0) return { action: 'accept', content: {} };
  for (const [name, value] of content)
    output.note(
      `  ${showLine(properties[name]?.title ?? name, 60)}: ${showLine(JSON.stringify(value), 300)}`,
    );
  const sent = await selectOption(request, 'Send this to {server}?', [
    { value: 'send', label: 'Send' },
    DECLINE,
  ]);
  return sent === 'send'
    ? { action: 'accept', content: Object.fromEntries(content) }
    : { action: sent ?? 'cancel' };
}

async function answerUrl(request: UrlRequest, output: Output): Promise<ElicitationAnswer> {
  const { url, host } = request;
  output.note(`The server asks you to open a page on ${output.color.bold(showLine(host, 255))}:`);
  output.note(`  ${showFullLine(url)}`);
  const choice = await selectOption(request, 'Open this page for {server}?', [
    DECLINE,
    { value: 'open', label: 'Open the page in the browser' },
    { value: 'self', label: 'I will open the page myself' },
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
