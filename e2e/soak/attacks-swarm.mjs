// All kinds of attackers, at every route at once, in their own process so that they do not delay the measuring client.
// Ends when the daemon has cut off the last slow attacker; prints the outcomes of each kind of attack.
// node attacks-swarm.mjs <{ url, token, addresses: [{ method, path, isOpen }] } as JSON>
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {import('node:net').Socket} Socket */
/** @typedef {{ method: string, path: string, isOpen: boolean }} Address */
/**
 * `follow` sends what comes after the head; `isCutShort` omits the empty line that ends the head.
 * @typedef {{ kind: string, address: Address, headers?: Record<string, string>,
 *   follow?: (socket: Socket) => void, isCutShort?: boolean }} Attack
 */

/** @type {{ url: string, token: string, addresses: Address[] }} */
const { url, token, addresses } = JSON.parse(process.argv[2] ?? '{}');
const { hostname, port, host } = new URL(url);

const LARGE_BYTES = 64 * 1_024 * 1_024;
const PART = Buffer.alloc(1_024 * 1_024, 'x');
const CHUNK = Buffer.concat([Buffer.from(`${PART.length.toString(16)}\r\n`), PART, Buffer.from('\r\n')]);
const QUICK = { atOnce: 32, everyMs: 100 };
const LINGERING = { atOnce: 24, everyMs: 0 };
/** More connections than the daemon accepts. */
const SLOW_AT_ONCE = 1_100;
const DRIP_MS = 1_000;
/** An attacker that is still connected after this time was not refused. */
const TIMEOUT_MS = 30_000;

/** @type {Record<string, Record<string, number>>} */
const outcomes = {};
/** @type {Array<{ kind: string, method: string, path: string, outcome: string }>} */
const letIn = [];

const good = { authorization: `Bearer ${token}` };
const json = { 'content-type': 'application/json' };
const guarded = addresses.filter(({ isOpen }) => !isOpen);

/** @param {Address} address @param {Record<string, string>} headers */
function head({ method, path }, headers) {
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}`;
}

/** Sends the attack, reads until the daemon closes the connection, and records the outcome. @param {Attack} attack */
function strike({ kind, address, headers = {}, follow, isCutShort = false }) {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    let isWaiting = true;
    const timer = setTimeout(() => {
      isWaiting = false;
      socket.destroy();
    }, TIMEOUT_MS);
    socket.on('connect', () => {
      socket.write(`${head(address, headers)}${isCutShort ? '' : '\r\n'}`);
      follow?.(socket);
    });
    socket.on('data', (part) => {
      if (answer.length < 16) answer += part.toString('latin1');
    });
    // The daemon resets the connection when data arrives after its response.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
      record(kind, address, isWaiting ? (status ?? 'closed') : 'open');
      resolve(undefined);
    });
  });
}

/** @param {string} kind @param {Address} address @param {string} outcome */
function record(kind, { method, path }, outcome) {
  outcomes[kind] ??= {};
  outcomes[kind][outcome] = (outcomes[kind][outcome] ?? 0) + 1;
  if (outcome !== 'closed' && !outcome.startsWith('4')) letIn.push({ kind, method, path, outcome });
}

/** Sends part after part while the socket accepts it, up to 64 MB. @param {Socket} socket @param {Buffer} part */
function pour(socket, part) {
  let left = LARGE_BYTES / PART.length;
  const go = () => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(part)) return void socket.once('drain', go);
    }
  };
  go();
}

/** @param {Socket} socket @param {string} drop */
function drip(socket, drop) {
  const timer = setInterval(() => socket.write(drop), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

/** @returns {Attack[]} */
function quickAttacks() {
  const wrong = () => ({ authorization: `Bearer tbk_${Math.random().toString(36).slice(2)}` });
  return [
    ...guarded.map((address) => ({ kind: 'no token', address, headers: json })),
    ...guarded.map((address) => ({
      kind: 'wrong token',
      address,
      headers: { ...json, ...wrong() },
    })),
    ...addresses.flatMap((address) => [
      { kind: 'foreign origin', address, headers: { ...good, ...json, origin: 'https://evil.example' } },
      { kind: 'wrong host', address, headers: { ...good, ...json, host: 'evil.example' } },
      {
        kind: 'wrong content type',
        address,
        headers: { ...good, 'content-type': 'text/plain', 'content-length': '2' },
        follow: (/** @type {Socket} */ socket) => void socket.write('{}'),
      },
    ]),
  ];
}

/** Each is answered at once, but its connection may stay open for up to a second. @returns {Attack[]} */
const lingeringAttacks = () =>
  addresses.flatMap((address) => [
    {
      kind: 'slow body',
      address,
      headers: { ...json, 'content-length': '1000' },
      follow: (/** @type {Socket} */ socket) => drip(socket, ' '),
    },
    {
      kind: '64 MB body',
      address,
      headers: { ...good, ...json, 'content-length': String(LARGE_BYTES) },
      follow: (/** @type {Socket} */ socket) => pour(socket, PART),
    },
    {
      kind: '64 MB in chunks',
      address,
      headers: { ...good, ...json, 'transfer-encoding': 'chunked' },
      follow: (/** @type {Socket} */ socket) => pour(socket, CHUNK),
    },
  ]);

/** @returns {Attack[]} */
const slowAttacks = () =>
  Array.from({ length: Math.ceil(SLOW_AT_ONCE / addresses.length) }, () => addresses)
    .flat()
    .map((address) => ({
      kind: 'slow headers',
      address,
      headers: good,
      isCutShort: true,
      follow: (/** @type {Socket} */ socket) => {
        socket.write('x-slow: ');
        drip(socket, 'x');
      },
    }));

/**
 * Sends waves of attacks until `isOver`: at most `atOnce` attacks at a time, and one wave per `everyMs`.
 * @param {() => Attack[]} wave @param {{ atOnce: number, everyMs: number }} pace
 */
async function wavesOf(wave, { atOnce, everyMs }) {
  do {
    const pause = delay(everyMs);
    const attacks = wave();
    const work = async () => {
      for (let next = attacks.shift(); next !== undefined; next = attacks.shift()) await strike(next);
    };
    await Promise.all([pause, ...Array.from({ length: atOnce }, work)]);
  } while (!isOver);
}

let isOver = false;
const slow = Promise.all(slowAttacks().map(strike)).then(() => {
  isOver = true;
});
await Promise.all([slow, wavesOf(quickAttacks, QUICK), wavesOf(lingeringAttacks, LINGERING)]);
process.stdout.write(`${JSON.stringify({ outcomes, letIn: letIn.slice(0, 20) })}\n`);
