/** Seals texts that clients keep for us, so that nothing has to be stored here; only their owner can open them. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Sealer {
  readonly #key: Buffer;
  readonly #maxCharacters: number;

  constructor(key: Buffer, maxCharacters: number) {
    this.#key = key;
    this.#maxCharacters = maxCharacters;
  }

  seal(text: string, identity: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(identity));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Undefined for a text that was not sealed with this key, or not for this identity. */
  open(sealed: unknown, identity: string): string | undefined {
    if (typeof sealed !== 'string' || sealed.length > this.#maxCharacters) return undefined;
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(identity))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString();
    } catch {
      return undefined;
    }
  }
}

/** A separate key for each purpose, so that a text sealed for one does not open for another. */
export const deriveKey = (use: string, key: Buffer): Buffer => createHmac('sha256', key).update(use).digest();
