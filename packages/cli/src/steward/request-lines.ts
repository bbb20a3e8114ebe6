/** Requests to the steward on the terminal: a table of all, and one with its result. */
import type { RequestStatus, ShownCandidate, StewardMode, TestReport } from '@turnbuckle/steward';
import { isRecord, shellQuote } from 'turnbuckle/light';
import { shortId, shortIds } from '../command-line/short-id.js';
import type { Output } from '../terminal/output.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';
import { showCandidates } from './candidate-lines.js';
import { kindWord } from './request-words.js';

const MAX_MESSAGE_WIDTH = 300;
const MAX_LISTED = 50;

export function showRequests(requests: readonly RequestStatus[], output: Output): void {
  const { color, width } = output;
  const ids = shortIds(requests.map(({ requestId }) => requestId));
  const head = ['id', 'kind', 'state', 'priority', 'energy', 'message'];
  const rows = requests.map((request, at) => [
    showLine(ids[at] ?? '', 40),
    showLine(kindWord(request.type), 20),
    stateText(request),
    request.priority,
    shownEnergy(request),
    showLine(request.message, MAX_MESSAGE_WIDTH),
  ]);
  const table = [head.map((word) => color.dim(word)), ...rows];
  for (const line of textTable(table, { width })) output.line(line);
}

/** `waiting for approval`, `in progress 40%`, `completed`. */
export function stateText({ state, progress, waitingFor }: RequestStatus): string {
  if (state !== 'in_progress') return state;
  return waitingFor === 'approval' ? 'waiting for approval' : `in progress ${Math.round(progress)}%`;
}

const shownEnergy = ({ energyConsumed }: RequestStatus): string =>
  String(Math.round(Number(energyConsumed) * 10) / 10);

export function showRequest(request: RequestStatus, output: Output): void {
  const { requestId, type, message, requestedBy, priority, timestamp, error } = request;
  const { color } = output;
  output.line(
    `${color.bold(showLine(requestId, 60))}  ${showLine(kindWord(type), 20)}  ${stateText(request)}`,
  );
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ['message', error === undefined ? showMessage(message) : undefined],
    ['error', error && `${showLine(error.code, 40)} ${showMessage(error.message)}`],
    ['next', error?.hint === undefined ? undefined : output.rewriteCommands(showMessage(error.hint))],
    ['caller', requestedBy === undefined ? 'you' : showLine(requestedBy, 60)],
    ['created', formatTimestamp(Date.parse(timestamp))],
    ['priority', priority],
    ['energy', shownEnergy(request)],
  ];
  for (const [label, text] of facts) if (text !== undefined) output.line(`  ${label.padEnd(10)}${text}`);
  showRequestResult(request, output);
}

/** What a completed request found or did; nothing for others. */
export function showRequestResult({ type, result }: RequestStatus, output: Output): void {
  if (!isRecord(result)) return;
  const { candidates, report, diff, tools, serverName } = result;
  if (type === 'search_servers' && Array.isArray(candidates)) return showFound(candidates, output);
  if (type === 'test_server' && isRecord(report)) return showReport(report as unknown as TestReport, output);
  if (type === 'modify_server' && Array.isArray(diff))
    for (const line of diff.slice(0, MAX_LISTED))
      output.line(`  ${showLine(String(line), MAX_MESSAGE_WIDTH)}`);
  if (type === 'add_server') showAdded(String(serverName), Array.isArray(tools) ? tools : [], output);
  if (type === 'remove_server') output.line(`Removed ${showLine(String(serverName))}`);
}

function showFound(candidates: readonly ShownCandidate[], output: Output): void {
  if (candidates.length === 0) output.note('No servers were found.');
  else showCandidates(candidates, output);
}

export function showAdded(server: string, tools: readonly unknown[], output: Output): void {
  const count = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  output.line(`Added ${output.color.bold(showLine(server))} with ${count}`);
  for (const tool of tools.slice(0, MAX_LISTED)) output.line(`  ${showLine(String(tool))}`);
  if (tools.length > MAX_LISTED) output.note(`and ${tools.length - MAX_LISTED} more`);
}

function showReport({ verdict, tools, findings, sandboxed }: TestReport, output: Output): void {
  const { color } = output;
  const paint = { pass: color.green, warn: color.yellow, fail: color.red }[verdict] ?? String;
  const where = sandboxed ? 'in a sandbox' : 'without a sandbox';
  output.line(`  ${'verdict'.padEnd(10)}${paint(showLine(verdict, 10))}, ${tools.length} tools, ${where}`);
  for (const { level, where: part, text } of findings.slice(0, MAX_LISTED))
    output.line(
      `  ${showLine(level, 8).padEnd(10)}${showLine(part, 60)}: ${showLine(text, MAX_MESSAGE_WIDTH)}`,
    );
  if (findings.length > MAX_LISTED) output.note(`and ${findings.length - MAX_LISTED} more`);
}

/** That nothing is worked on at the moment. */
export function noteMode({ paused, stopped, heldCaller }: StewardMode, output: Output): void {
  if (stopped) output.note('The steward is stopped. Start it: turnbuckle steward start');
  else if (paused) output.note('The steward is paused. Resume it: turnbuckle steward resume');
  if (heldCaller !== undefined)
    output.note(`"${showLine(heldCaller, 60)}" has paused its own requests until it has more energy.`);
}

export const noteWithoutDaemon = (output: Output): void =>
  output.note('No daemon is running, so requests are not processed. Start it: turnbuckle serve start');

export const cancelCommand = (id: string): string => `turnbuckle steward cancel ${shellQuote(shortId(id))}`;

export const approveCommand = (id: string): string => `turnbuckle steward approve ${shellQuote(shortId(id))}`;

export const statusCommand = (id: string): string => `turnbuckle steward status ${shellQuote(shortId(id))}`;
