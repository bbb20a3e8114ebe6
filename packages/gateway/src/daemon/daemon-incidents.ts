/** The incidents of the daemon, and of the bridge alone. */
import type { Incident } from '../incidents/incident.js';

export const daemonStarted = (version: string, url: string): Incident => ({
  level: 'info',
  kind: 'daemon-started',
  text: `Turnbuckle ${version} is running at ${url}.`,
});

export const daemonStopped = (): Incident => ({
  level: 'info',
  kind: 'daemon-stopped',
  text: 'Turnbuckle has stopped.',
});

export const daemonReplaced = (): Incident => ({
  level: 'error',
  kind: 'daemon-stopped',
  text: 'The daemon is stopping because another daemon has taken over its state directory.',
  next: 'See which one is running: turnbuckle serve status',
});

export const openToNetwork = (who: string, url: string): Incident => ({
  level: 'warn',
  kind: 'open-to-network',
  text: `${who} listens on ${url.replace('http://', '')}. Other machines can reach it, and the traffic is not encrypted. Every request needs a token.`,
  next: 'To accept connections from this machine only, remove --host and daemon.host, and restart it.',
});

export const telemetryProblem = (text: string): Incident => ({
  level: 'warn',
  kind: 'telemetry-failed',
  text,
  next: "Check daemon.traces in your configuration (turnbuckle config) and the daemon's OTEL_ variables.",
});

export const tokenFileProblem = (text: string): Incident => ({
  level: 'warn',
  kind: 'token-file',
  text,
  next: 'Check the tokens: turnbuckle token list',
});

export const energyNotRestored = (error: unknown): Incident => ({
  level: 'warn',
  kind: 'log-failed',
  text: `The energy used by earlier calls could not be read from the log: ${error instanceof Error ? error.message : String(error)}. All budgets start full.`,
  next: 'Check the log: turnbuckle calls',
});

export const logFailed = (text: string): Incident => ({
  level: 'error',
  kind: 'log-failed',
  text,
  next: 'Calls still work. Make sure that the disk has free space and that the directory is writable, then check: turnbuckle calls',
});
