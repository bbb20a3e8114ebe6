/**
 * Names and versions of packages, in the strictest form that each registry has. Whatever passes is neither an option
 * (`--flag`), nor an address (`file:`, `git+ssh:`, `https:`), an alias (`npm:`), a tag or a range, nor a path. Pure.
 */
import type { PackageType } from './installable-record.js';

const MAX_NAME_LENGTH = 214;
const MAX_VERSION_LENGTH = 100;
const MAX_IMAGE_LENGTH = 500;

const NPM_NAME = /^(@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/;
const NPM_RESERVED = new Set(['node_modules', 'favicon.ico']);
const NUMBER = '(?:0|[1-9]\\d{0,15})';
const EXACT_VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$`,
);

const PYPI_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const PYPI_VERSION = /^(?:\d+!)?\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?$/;

/** The name that a server has in the configuration: also a part of paths and of placeholders. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

export const isEntryName = (text: string): boolean => SERVER_NAME.test(text);

export const isNpmName = (text: string): boolean =>
  text.length <= MAX_NAME_LENGTH && NPM_NAME.test(text) && !NPM_RESERVED.has(text);

/** Semantic, complete and without a range; build metadata does not tell versions apart and is not accepted. */
export const isExactVersion = (text: string): boolean =>
  text.length <= MAX_VERSION_LENGTH && EXACT_VERSION.test(text);

export const isPypiName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && PYPI_NAME.test(text);

export const isPypiVersion = (text: string): boolean =>
  text.length <= MAX_VERSION_LENGTH && PYPI_VERSION.test(text);

/** A container image. */
export interface ImageName {
  /** `host[:port]` */
  readonly registry: string;
  /** The path without the registry. */
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:…` */
  readonly digest?: string;
}

const HOST = /^(?:localhost|[a-z0-9]+(?:[.-][a-z0-9]+)*)(?::\d{1,5})?$/;
const PATH_SEGMENT = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
export const DIGEST = /^sha256:[a-f0-9]{64}$/;
const DEFAULT_REGISTRY = 'docker.io';

/** The parts of an image name; undefined if it is not one. `version` is the tag or digest of a name without one. */
export function parseImageName(identifier: string, version: string | undefined): ImageName | undefined {
  if (identifier.length > MAX_IMAGE_LENGTH) return undefined;
  const [named = '', digest, ...more] = identifier.split('@');
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  const slash = named.lastIndexOf('/');
  const colon = named.indexOf(':', slash + 1);
  const path = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? undefined : named.slice(colon + 1);
  const [first = '', ...rest] = path.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const segments = hasRegistry ? rest : [first, ...rest];
  const registry = hasRegistry ? first : DEFAULT_REGISTRY;
  const isValid = HOST.test(registry) && segments.every((segment) => PATH_SEGMENT.test(segment));
  if (!isValid || (tag !== undefined && !TAG.test(tag))) return undefined;
  const repository =
    registry === DEFAULT_REGISTRY && segments.length === 1 ? `library/${segments[0]}` : segments.join('/');
  const chosen = versionParts(version, { tag, digest });
  return chosen && { registry, repository, ...chosen };
}

function versionParts(
  version: string | undefined,
  found: { tag: string | undefined; digest: string | undefined },
): Pick<ImageName, 'tag' | 'digest'> | undefined {
  const isDigest = version !== undefined && DIGEST.test(version);
  const digest = found.digest ?? (isDigest ? version : undefined);
  const tag = found.tag ?? (isDigest ? undefined : version);
  if (tag !== undefined && (!TAG.test(tag) || (tag === 'latest' && digest === undefined))) return undefined;
  if (tag === undefined && digest === undefined) return undefined;
  return { ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

/** What is wrong with the name or version of a package; undefined if nothing is. */
export function identifierFault(
  type: PackageType,
  identifier: string,
  version: string | undefined,
): string | undefined {
  const shown = JSON.stringify(identifier.slice(0, MAX_NAME_LENGTH));
  if (type === 'npm' && !isNpmName(identifier)) return `${shown} is not a valid npm package name`;
  if (type === 'pypi' && !isPypiName(identifier)) return `${shown} is not a valid PyPI package name`;
  if (type === 'oci')
    return parseImageName(identifier, version) === undefined
      ? `${shown} with version ${JSON.stringify(version ?? '')} does not identify an exact container image`
      : undefined;
  if (type === 'mcpb')
    return isBundleAddress(identifier) ? undefined : `${shown} is not an https URL in its normal form`;
  const isExact = type === 'npm' ? isExactVersion(version ?? '') : isPypiVersion(version ?? '');
  if (type === 'nuget' || isExact) return undefined;
  return `version ${JSON.stringify((version ?? '').slice(0, MAX_VERSION_LENGTH))} is not an exact version`;
}

const isBundleAddress = (text: string): boolean => text.length <= 2_000 && isPlainAddress(text);

/**
 * An https address without a user name, exactly as it is requested: a part of it that is changed or read differently on the
 * way could match a pattern for another host or path.
 */
export function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, href } = new URL(text);
  const isAsWritten = href === text || href === `${text}/`;
  return protocol === 'https:' && username === '' && password === '' && isAsWritten;
}

/** Negative if the left version is older. Understands semantic, date-based and Python versions. */
export function comparePackageVersions(left: string, right: string): number {
  const [[numbers, pre], [otherNumbers, otherPre]] = [splitVersion(left), splitVersion(right)];
  for (let at = 0; at < Math.max(numbers.length, otherNumbers.length); at += 1) {
    const difference = (numbers[at] ?? 0) - (otherNumbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (pre === otherPre) return 0;
  if (pre === '' || otherPre === '') return pre === '' ? 1 : -1;
  return pre < otherPre ? -1 : 1;
}

function splitVersion(version: string): [number[], string] {
  const [release = ''] = /^[\d.]+/.exec(version) ?? [];
  const numbers = release.split('.').filter((part) => part !== '');
  return [numbers.map(Number), version.slice(release.length).replace(/\+.*$/, '')];
}
