/**
 * The secrets that people give for servers that the steward adds. Each addition has names of its own in the vault, so
 * that no server gets the secret of another one, and what an addition stored can be deleted with it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { secretKey } from 'turnbuckle/host';
import type { InputField } from '../../install/entry-template.js';
import type { InstallApproval } from '../../queue/install-approvals.js';
import { readConfiguration } from '../configured-server.js';
import type { WorkServices } from '../services.js';

const WAIT_MS = 30_000;
/** Also if the answer seems to be older, since clocks can be set. */
const LEAST_WAIT_MS = 2_000;
const LOOK_MS = 50;
const OWN_SECRET = /\$\{secret:([^}]+\.steward-[0-9a-f]{12})\}/g;

/** For the names of the secrets of one addition. */
export const newSecretScope = (): string => `steward-${randomBytes(6).toString('hex')}`;

/**
 * The daemon stores them after it has accepted the answer. False: it has not, and nobody will any more. What was stored of
 * them is deleted then.
 */
export async function waitForSecrets(
  inputs: readonly InputField[],
  { secrets = [], answeredAt = 0 }: Pick<InstallApproval, 'secrets' | 'answeredAt'>,
  services: Pick<WorkServices, 'vault' | 'work' | 'environment' | 'now'> & { readonly signal: AbortSignal },
): Promise<boolean> {
  const { vault, signal, now } = services;
  const names = secretNamesOf(inputs.filter(({ name }) => secrets.includes(name)));
  const leftMs = Math.min(Math.max(answeredAt + WAIT_MS - now(), LEAST_WAIT_MS), WAIT_MS);
  const until = performance.now() + leftMs;
  for (const name of names)
    while ((await vault.get(secretKey(name))) === undefined) {
      if (performance.now() > until) {
        await forgetSecrets(secretNamesOf(inputs), services);
        return false;
      }
      await pause(LOOK_MS, undefined, { signal });
    }
  return true;
}

export const secretNamesOf = (inputs: readonly InputField[]): string[] =>
  inputs.flatMap(({ secretName }) => (secretName === undefined ? [] : [secretName]));

/** Those that an entry names and that were stored for it. */
export const ownSecretsOf = (entry: Readonly<Record<string, unknown>> | undefined): string[] => [
  ...new Set([...JSON.stringify(entry ?? {}).matchAll(OWN_SECRET)].map(([, name = '']) => name)),
];

/** Deletes secrets that no server uses. */
export async function forgetSecrets(
  names: readonly string[],
  services: Pick<WorkServices, 'work' | 'environment' | 'vault'>,
): Promise<void> {
  if (names.length === 0) return;
  const { servers, settings } = await readConfiguration(services);
  const used = JSON.stringify([[...servers.values()].map(({ entry }) => entry), settings]);
  for (const name of names)
    if (!used.includes(`\${secret:${name}}`)) await services.vault.delete(secretKey(name));
}
