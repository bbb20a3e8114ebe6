// Runs in its own network namespace in which every address leads to this machine. One canary listens on all of them
// and records by which address it was reached. Argument: the table. Answer: one line of JSON.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer } from 'node:net';
import { createGuardedFetch } from '../../dist/fetching/guarded-fetch.js';

const { hosts, answers, publicAddress, certificate } = JSON.parse(process.argv[2]);
for (const command of [
  'link set lo up',
  'route add local 0.0.0.0/0 dev lo',
  '-6 route add local ::/0 dev lo',
]) {
  execFileSync('ip', command.split(' '));
}

const found = [];
const canary = createServer((socket) => {
  found.push(socket.localAddress.replace(/^::ffff:(?=\d+\.)/, ''));
  socket.on('error', () => {}).destroy();
}).listen(8443, '::');
await once(canary, 'listening');
const redirecting = createHttp((request, response) => {
  const to = new URL(request.url, 'http://own').searchParams.get('to');
  response.writeHead(307, { location: Buffer.from(to).toString('latin1') }).end();
}).listen(8080, '127.0.0.1');
await once(redirecting, 'listening');

/** The outcome of a fetch, and the addresses by which the canary was reached. */
async function attempt(url, options = {}) {
  found.length = 0;
  let outcome = 'answered';
  try {
    await createGuardedFetch({ lookup: async () => [], ...options })(url);
  } catch (error) {
    outcome = error.data?.reason ?? `failed: ${error.cause?.code}`;
  }
  return { url, outcome, found: [...found] };
}

const asAnswer = (address) => ({ address, family: address.includes(':') ? 6 : 4 });
function rebinding(...steps) {
  let asked = 0;
  return async () => [asAnswer(steps[Math.min(asked++, steps.length - 1)])];
}
const redirect = (url) => `http://127.0.0.1:8080/?to=${encodeURIComponent(url)}`;
const allowedOrigins = ['http://127.0.0.1:8080'];
const besides = { allowedOrigins, localServerMayReach: 'loopback' };

/** Without the guard: which addresses of this network lead to the canary at all. */
async function reachable(address) {
  found.length = 0;
  const socket = connect(8443, address).on('error', () => {});
  await new Promise((resolve) => socket.on('close', resolve));
  return found.length > 0;
}

const report = { reachable: [], direct: [], redirected: [], named: [], rebound: [] };
for (const address of answers) if (await reachable(address)) report.reachable.push(address);
for (const host of hosts) {
  const url = `https://${host}:8443/latest/meta-data`;
  report.direct.push(await attempt(url), await attempt(url, { allowedOrigins }));
  report.redirected.push(await attempt(redirect(url), { allowedOrigins }));
}
for (const address of answers) {
  const url = 'https://name.example:8443/';
  const lookup = rebinding(address);
  report.named.push(
    await attempt(url, { lookup }),
    await attempt(url, { lookup, ...besides }),
    await attempt(redirect(url), { lookup, ...besides }),
    await attempt('http://name.example:8443/', { lookup, ...besides }),
  );
  report.rebound.push(
    await attempt(url, { lookup: rebinding(publicAddress, address) }),
    await attempt(redirect(url), { lookup: rebinding(publicAddress, address), allowedOrigins }),
  );
}

if (certificate !== undefined) {
  const secured = createHttps(
    { key: readFileSync(certificate.key), cert: readFileSync(certificate.file) },
    (_request, response) => response.end('secured'),
  ).listen(443, publicAddress);
  await once(secured, 'listening');
  const lookup = async () => [asAnswer(publicAddress)];
  const fetch = createGuardedFetch({ lookup });
  report.secured = await (await fetch('https://public.example/')).text();
  report.otherName = await fetch('https://other.example/').catch((error) => error.cause.code);
  secured.closeAllConnections();
  secured.close();
}

process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
