/** Which of several records of one server is the newest. */
import type { ServerRecord } from './server-record.js';

/** The newest of these records; undefined if there are none. Which one is returned does not depend on their order. */
export function newestOf(records: readonly ServerRecord[]): ServerRecord | undefined {
  return records.reduce<ServerRecord | undefined>(
    (newest, record) => (newest === undefined || isNewer(record, newest) ? record : newest),
    undefined,
  );
}

/** What the registry says comes first; versions need not be numbers. */
function isNewer(record: ServerRecord, than: ServerRecord): boolean {
  const isLatest = (one: ServerRecord): number => (one.isLatest === true ? 1 : 0);
  const order =
    isLatest(record) - isLatest(than) ||
    compareVersions(record.version, than.version) ||
    compareTexts(record.updatedAt ?? '', than.updatedAt ?? '');
  return order > 0;
}

/** By the rules of semantic versioning as far as they apply: a pre-release comes before its release. */
export function compareVersions(left: string, right: string): number {
  const [leftCore = '', leftPre] = splitVersion(left);
  const [rightCore = '', rightPre] = splitVersion(right);
  const byCore = compareParts(leftCore, rightCore);
  if (byCore !== 0) return byCore;
  if (leftPre === undefined || rightPre === undefined)
    return Number(leftPre === undefined) - Number(rightPre === undefined);
  return compareParts(leftPre, rightPre);
}

function splitVersion(version: string): [core: string, preRelease: string | undefined] {
  const [withoutBuild = ''] = version.replace(/^v/i, '').split('+');
  const at = withoutBuild.indexOf('-');
  return at === -1 ? [withoutBuild, undefined] : [withoutBuild.slice(0, at), withoutBuild.slice(at + 1)];
}

function compareParts(left: string, right: string): number {
  const leftParts = left.split('.');
  const rightParts = right.split('.');
  for (let at = 0; at < Math.max(leftParts.length, rightParts.length); at += 1) {
    const order = comparePart(leftParts[at] ?? '0', rightParts[at] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(left: string, right: string): number {
  const areNumbers = /^\d+$/.test(left) && /^\d+$/.test(right);
  const [leftDigits, rightDigits] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')];
  // Versions may have more digits than a number.
  if (areNumbers) return leftDigits.length - rightDigits.length || compareTexts(leftDigits, rightDigits);
  return compareTexts(left, right);
}

/** Not by the rules of a language: those differ between machines. */
export const compareTexts = (left: string, right: string): number =>
  left === right ? 0 : left < right ? -1 : 1;
