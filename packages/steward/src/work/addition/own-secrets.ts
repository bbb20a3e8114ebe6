/**
 * The secrets that people give for servers that the steward adds. Each addition has names of its own in the vault, so
 * that no server gets the secret of another one, and what an addition stored can be deleted with it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TurnbuckleError } from 'turnbuckle';
import { secretKey } from 'turnbuckle/host';
import type { InputField } from '../../install/entry-template.js';
import { readConfiguration } from '../configured-server.js';
import type { WorkServices } from '../services.js';

const WAIT_MS = 30_000;
const LOOK_MS = 50;
const OWN_SECRET = /\$\{secret:([^}]+\.steward-[0-9a-f]{12})\}/g;

/** For the names of the secrets of one addition. */
export const newSecretScope = (): string => `steward-${randomBytes(6).toString('hex')}`;

/** The daemon stores them after it has accepted the answer. */
export async function waitForSecrets(
  inputs: readonly InputField[],
  fields: readonly string[],
  {
    vault,
    signal,
    server,
  }: Pick<WorkServices, 'vault'> & { readonly signal: AbortSignal; readonly server: string },
): Promise<void> {
  const names = secretNamesOf(inputs.filter(({ name }) => fields.includes(name)));
  const until = performance.now() + WAIT_MS;
  for (const name of names)
    while ((await vault.get(secretKey(name))) === undefined) {
      if (performance.now() > until)
        throw new TurnbuckleError(
          'SECRETS_UNAVAILABLE',
          `The secrets for server "${server}" were not stored.`,
          {
            server,
            hint: 'Nothing was installed. Send the request again.',
          },
        );
      await pause(LOOK_MS, undefined, { signal });
    }
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
