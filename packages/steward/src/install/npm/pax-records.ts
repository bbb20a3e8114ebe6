/** The records of an extended header of a tar archive: only those that every reader takes for the same. Pure. */

/** `18 path=package/a\n`: the length is that of the whole line, in bytes. */
const RECORD = /^([1-9]\d{0,6}) ([^=]+)=(.*)$/s;

/** What is wrong with them, as the end of a sentence. */
export class PaxFault extends Error {}

/** Throws a PaxFault for what some readers skip, shorten or read in another order. */
export function readPaxRecords(text: string): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  // A reader that takes line breaks for ends of records must find the same ones.
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, length, key = '', value = ''] = RECORD.exec(line) ?? [];
    if (Number(length) !== Buffer.byteLength(line) + 1 || value.includes('\0'))
      throw new PaxFault('has an extended header that is not valid');
    if (records.has(key))
      throw new PaxFault(`has an extended header with several values of "${key.slice(0, 50)}"`);
    records.set(key, value);
  }
  for (const key of ['linkpath', 'type'])
    if (records.has(key)) throw new PaxFault(`has an extended header that sets "${key}"`);
  return records;
}
