/**
 * The vault's file: one AES-256-GCM blob with all entries, and a header that names the location of the key. The
 * header is authenticated too, so that no part of the file can be changed or replaced on its own.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { KeyLocationName } from './key-location.js';
import type { Derivation, VaultKey } from './vault-key.js';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const base64 = z.string().check(z.regex(/^[A-Za-z0-9+/]*={0,2}$/));
const place = z.enum(['keychain', 'file']);
const commonFields = {
  id: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  /** A location that may still hold an older key: the next writer removes it. */
  retire: z.optional(place),
};
// These parameters are read before anything is authenticated: limit what they can cost.
const passphrase = z.strictObject({
  from: z.literal('passphrase'),
  ...commonFields,
  kdf: z.literal('scrypt'),
  N: z.literal([2 ** 14, 2 ** 15, 2 ** 16, 2 ** 17]),
  r: z.literal(8),
  p: z.number().check(z.int(), z.gte(1), z.lte(4)),
  salt: base64,
});
const storedKey = z.strictObject({ from: place, ...commonFields });
const file = z.strictObject({
  version: z.literal(1),
  key: z.discriminatedUnion('from', [storedKey, passphrase]),
  iv: base64,
  tag: base64,
  data: base64,
});
const versioned = z.object({ version: z.number() });

const entry = z.strictObject({ value: z.string(), updatedAt: z.string() });

export type SealedVault = z.output<typeof file>;
/** Where the key is, and its id. */
export type KeyHeader =
  | { readonly from: KeyLocationName; readonly id: string; readonly retire?: KeyLocationName | undefined }
  | (Derivation & {
      readonly from: 'passphrase';
      readonly id: string;
      readonly retire?: KeyLocationName | undefined;
    });

export interface VaultEntry {
  readonly value: string;
  readonly updatedAt: string;
}

export type VaultEntries = ReadonlyMap<string, VaultEntry>;

/** The file's text, with a fresh random IV each time. */
export function sealVault(content: VaultEntries, key: VaultKey, header: KeyHeader): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key.bytes, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(header));
  const data = Buffer.concat([cipher.update(JSON.stringify(Object.fromEntries(content))), cipher.final()]);
  const sealed = {
    version: 1,
    key: header,
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  };
  return `${JSON.stringify(sealed, null, 2)}\n`;
}

/** The file's parts, still encrypted; or a description of what is wrong with it. */
export function parseVault(text: string): SealedVault | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text === '' ? 'it is empty' : 'it is not JSON';
  }
  const parsed = file.safeParse(value);
  if (parsed.success) return parsed.data;
  const { data } = versioned.safeParse(value);
  if (data !== undefined && data.version > 1)
    return `it has version ${data.version}, which this version of Turnbuckle does not support`;
  return `a field is missing or invalid (${parsed.error.issues[0]?.path.join('.') || 'top level'})`;
}

/** All entries; undefined if the file was changed or the key is a different one. */
export function openVaultText(
  { key: header, iv, tag, data }: SealedVault,
  key: VaultKey,
): VaultEntries | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key.bytes, Buffer.from(iv, 'base64'), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(header));
    decipher.setAuthTag(Buffer.from(tag, 'base64'));
    const text = Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]).toString();
    // Not with zod: its record drops a key named `__proto__`.
    return new Map(Object.entries<unknown>(JSON.parse(text)).map(([name, one]) => [name, entry.parse(one)]));
  } catch {
    return undefined;
  }
}

/** The header in canonical form, whatever the order of its keys in the file. */
function associatedData(header: KeyHeader): Buffer {
  const sorted = Object.entries(header)
    .filter(([, value]) => value !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return Buffer.from(JSON.stringify({ version: 1, key: Object.fromEntries(sorted) }));
}
