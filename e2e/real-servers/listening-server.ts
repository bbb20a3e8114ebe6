import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@turnbuckle/testing';
import { type Endpoint, type Expectation, PORT_OPTION } from './expectations.js';
import { serverScript } from './published-servers.mjs';

export interface ListeningServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a published server on a free port and waits until it accepts connections, 60 s at most. */
export async function listeningServer(endpoint: Endpoint, expected: Expectation): Promise<ListeningServer> {
  const port = await freePort();
  const option = PORT_OPTION[endpoint.server];
  const flags = option === undefined ? [] : [option, String(port)];
  const args = [...endpoint.mode, ...(expected.args ?? []), ...flags];
  const child = spawn(process.execPath, [await serverScript(endpoint.server), ...args], {
    env: { ...process.env, ...expected.env, PORT: String(port) },
    stdio: 'ignore',
  });
  try {
    await untilListening(child, port);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { url: `http://localhost:${port}${endpoint.path}`, stop: () => stop(child) };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The server ended with exit code ${child.exitCode}.`);
    if (await accepts(port)) return;
    await delay(100);
  }
  throw new Error(`Nothing listened on port ${port} within 60 s.`);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
