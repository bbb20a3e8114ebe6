/** The secrets of a configured server, as far as they can be read without asking anybody. */
import { isRecord } from '../json/is-record.js';
import { writtenSecretsOf } from '../redaction/secret-values.js';
import { type FillInSource, placeholdersFor } from './fill-in.js';
import type { ConfiguredServer } from './layers/loaded-config.js';
import { interpolate } from './placeholders/interpolate.js';

/** Neither a command nor a person is asked. */
export type ReadableSource = Pick<FillInSource, 'environment' | 'home' | 'learn'> &
  Partial<Pick<FillInSource, 'vault'>>;

/** Learns them, those of single callers included. Never rejects: what has no value is left out. */
export async function learnReadable(server: ConfiguredServer, source: ReadableSource): Promise<void> {
  const unasked = { vault: undefined, ...source, secretCommand: undefined, askInput: undefined };
  const placeholders = placeholdersFor(server, unasked);
  const fill = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string')
      return value.includes('${')
        ? interpolate(value, placeholders, { server: server.name }).catch(() => '')
        : value;
    if (Array.isArray(value)) return Promise.all(value.map(fill));
    if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
    const members = Object.entries(value).map(async ([key, part]) => [key, await fill(part)] as const);
    return Object.fromEntries(await Promise.all(members));
  };
  const filled = await fill(server.entry);
  if (isRecord(filled)) for (const secret of writtenSecretsOf(filled)) source.learn(secret);
}

/** Whether a secret that is not in the environment may be in the vault. */
export const refersToSecrets = ({ entry }: ConfiguredServer): boolean =>
  JSON.stringify(entry).includes('${secret:');
