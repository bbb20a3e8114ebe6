/** Spellings of a key that a lenient server takes for the same argument: `path`, `Path`, `file_path` and `filePath`. */

const PLAIN = /^[A-Za-z\d]*$/;
/** What spellings of a name differ in besides case: `_`, hyphens, spaces, and characters that cannot be seen. */
const SEPARATORS = /[\p{Pc}\p{Pd}\p{Z}\p{C}]/gu;

/** The same text for all spellings of a key. */
export function foldKey(key: string): string {
  if (PLAIN.test(key)) return key.toLowerCase();
  const plain = key.normalize('NFKC').replace(SEPARATORS, '');
  // Upper case first: it has one form where lower case has several.
  return (plain === '' ? key : plain).toUpperCase().toLowerCase().normalize('NFC');
}

/** Whether the object has this key and no other. */
export function hasOnlyKey(value: Readonly<Record<string, unknown>>, key: string): boolean {
  for (const one in value) if (one !== key) return false;
  return Object.hasOwn(value, key);
}
