/**
 * The key of a vault: 32 random bytes, or derived from a passphrase with scrypt. For where it is stored, see
 * key-location.ts.
 */
import { createHash, randomBytes, scrypt } from 'node:crypto';

export const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** About 32 MB and a tenth of a second for each guess. */
const SCRYPT_PARAMETERS = { N: 2 ** 15, r: 8, p: 1 } as const;
const MAX_SCRYPT_MEMORY_BYTES = 256 * 1_024 * 1_024;

export interface VaultKey {
  /** Distinguishes keys, and a wrong key from a damaged vault; reveals nothing about the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface Derivation {
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
}

export function toVaultKey(bytes: Buffer): VaultKey {
  const id = createHash('sha256').update('turnbuckle vault key\0').update(bytes).digest('hex').slice(0, 16);
  return { id, bytes };
}

export const randomKey = (): VaultKey => toVaultKey(randomBytes(KEY_BYTES));

export const newDerivation = (): Derivation => ({
  kdf: 'scrypt',
  ...SCRYPT_PARAMETERS,
  salt: randomBytes(SALT_BYTES).toString('base64'),
});

/** Derives the key from a passphrase; the text is normalized, so that equivalent Unicode forms give the same key. */
export function deriveKey(passphrase: string, { N, r, p, salt }: Derivation): Promise<VaultKey> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(salt, 'base64');
    scrypt(
      passphrase.normalize('NFKC'),
      bytes,
      KEY_BYTES,
      { N, r, p, maxmem: MAX_SCRYPT_MEMORY_BYTES },
      (error, key) => (error === null ? resolve(toVaultKey(key)) : reject(error)),
    );
  });
}
