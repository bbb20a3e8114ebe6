import { appendFileSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { listenOnLoopback } from '../transports/loopback.js';

// A working HTTP server that refuses requests first. --status 401|403 refuses everything without `Bearer <--token>`;
// 429|503 refuses the first --times requests, with --retry-after unchanged. --redirect same|other answers /mcp with
// 307 to another path of this server, or to another origin that only logs requests. --challenge replaces the
// WWW-Authenticate header. Every request adds a JSON line { at, method, url, authorization, status } to --log-file.
const flags = new Flags(['--transport', 'http', ...process.argv.slice(2)]);
const status = Number(flags.choice('status', ['401', '403', '429', '503']));
const redirect = flags.choice('redirect', ['none', 'same', 'other']);
const token = flags.text('token', 'secret');
let refusals = 0;

function note(at: string, request: IncomingMessage, answered: number): void {
  const { method, url, headers } = request;
  const line = JSON.stringify({ at, method, url, authorization: headers.authorization, status: answered });
  appendFileSync(flags.text('log-file', '/dev/null'), `${line}\n`);
}

async function findRedirectTarget(): Promise<string> {
  if (redirect === 'same') return '/moved';
  if (redirect === 'none') return '';
  const { origin } = await listenOnLoopback(0, (request, response) => {
    note('other', request, 404);
    response.writeHead(404).end();
  });
  return `${origin}/mcp`;
}

function toRefusal(request: IncomingMessage): OutgoingHttpHeaders | undefined {
  if (status === 429 || status === 503) {
    refusals += 1;
    return refusals > flags.number('times', 1)
      ? undefined
      : { 'retry-after': flags.text('retry-after', '1') };
  }
  if (request.headers.authorization === `Bearer ${token}`) return undefined;
  const metadata = `http://${request.headers.host}/.well-known/oauth-protected-resource/mcp`;
  const problem = status === 403 ? 'error="insufficient_scope", scope="mcp:write", ' : '';
  return { 'www-authenticate': flags.text('challenge', `Bearer ${problem}resource_metadata="${metadata}"`) };
}

function stop(response: ServerResponse, code: number, headers: OutgoingHttpHeaders): true {
  response.writeHead(code, { ...headers, 'content-type': 'text/plain' }).end('not here, not now');
  return true;
}

const target = await findRedirectTarget();

function gate(request: IncomingMessage, response: ServerResponse): boolean {
  if (target !== '' && request.url === '/mcp') {
    note('wall', request, 307);
    return stop(response, 307, { location: target });
  }
  const refusal = redirect === 'none' ? toRefusal(request) : undefined;
  note('wall', request, refusal ? status : 200);
  if (refusal) return stop(response, status, refusal);
  if (request.url === '/moved') request.url = '/mcp';
  return false;
}

await serve({ name: 'auth-wall', tools: createBasicTools() }, { flags, gate });
