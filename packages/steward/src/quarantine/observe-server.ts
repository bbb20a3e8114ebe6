/** What a server does beside answering: findings from the events of its runtime. */
import type { Runtime } from 'turnbuckle';
import { failureText } from './failure-text.js';
import type { FindingList } from './findings.js';
import type { Finding } from './report.js';

/** By the runtime's reason for ignoring a message. */
const IGNORED: Readonly<Record<string, readonly [Finding['level'], string]>> = {
  noise: ['warn', 'It writes text to stdout that is not an MCP message.'],
  unasked: ['warn', 'It responds to requests that were never sent, or responds twice.'],
  malformed: ['fail', 'It sends messages that are not valid JSON-RPC.'],
  'too-deep': ['fail', 'It sends messages that are nested too deeply.'],
  'too-large': ['fail', 'It sends messages that are too large.'],
};

/** Until the runtime closes. */
export function observeServer(runtime: Runtime, findings: FindingList): void {
  runtime.on('server.state', ({ from, error }) => {
    if (from === 'ready' && error !== undefined) findings.add('fail', 'server', failureText(error));
  });
  runtime.on('server.ignored', ({ reason }) => {
    const [level, text] = IGNORED[reason] ?? ['warn', `It sends unusable messages (${reason}).`];
    findings.add(level, 'protocol', text);
  });
  runtime.on('server.asked', ({ kind }) =>
    findings.add('warn', 'protocol', `It requested ${kind}, which is not offered during a test.`),
  );
  runtime.on('catalog.dropped', ({ item, reason }) =>
    findings.add('warn', `entry ${item}`, `Not usable: ${reason}.`),
  );
}
