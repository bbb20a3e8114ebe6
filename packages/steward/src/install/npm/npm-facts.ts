/** What the npm registry says of one exact version of a package. Only what is needed is read of it. */
import { type GuardedFetch, parseLosslessInSlices } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { isNpmName } from '../identifiers.js';
import type { PackageFacts } from '../install-plan.js';
import { installError, packageRefused } from '../refusal.js';
import type { NpmConfig, NpmRegistry } from './npm-config.js';

const texts = z.record(z.string(), z.string());
const loose = z.catch(z.optional(texts), undefined);

const versionShape = z.object({
  name: z.string(),
  version: z.string(),
  dist: z.object({ integrity: z.optional(z.string()), shasum: z.optional(z.string()), tarball: z.string() }),
  bin: z.catch(z.optional(z.union([z.string(), texts])), undefined),
  scripts: loose,
  hasInstallScript: z.catch(z.optional(z.boolean()), undefined),
  deprecated: z.catch(z.optional(z.union([z.string(), z.boolean()])), undefined),
  dependencies: loose,
  optionalDependencies: loose,
  peerDependencies: loose,
});

export type PublishedVersion = z.output<typeof versionShape>;

/** `prepare` is for packages from a repository only. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const MAX_DEPRECATION_LENGTH = 500;

export interface NpmPackage {
  readonly identifier: string;
  readonly version: string;
}

export interface FactsOptions {
  readonly fetch: GuardedFetch;
  readonly npm: NpmConfig;
  readonly signal: AbortSignal;
}

/** Rejects with FETCH_REFUSED or CONNECT_FAILED. */
export async function readNpmFacts(wanted: NpmPackage, options: FactsOptions): Promise<PackageFacts> {
  const { identifier, version } = wanted;
  const what = `${identifier}@${version}`;
  const registry = options.npm.registryOf(identifier);
  const document = await fetchDocument(identifier, { ...options, registry });
  const published = toPublishedVersion(ownMember(document.versions, version));
  if (published === undefined || published.name !== identifier || published.version !== version)
    throw packageRefused(`The registry has no version ${version} of ${identifier}.`);
  const { integrity } = published.dist;
  if (integrity === undefined || !SHA512.test(integrity))
    throw packageRefused(`The registry has no SHA-512 integrity hash for ${what}.`);
  if (!isInRegistry(published.dist.tarball, registry))
    throw packageRefused(
      `The file for ${what} is not in the registry but at ${originOf(published.dist.tarball)}.`,
    );
  const publishedAt = readTime(ownMember(document.time, version));
  const { deprecated, bin } = published;
  return {
    integrity,
    ...(publishedAt !== undefined && { publishedAt }),
    hasInstallScripts:
      published.hasInstallScript === true ||
      INSTALL_SCRIPTS.some((script) => Object.hasOwn(published.scripts ?? {}, script)),
    ...(deprecated !== undefined &&
      deprecated !== false && { deprecated: String(deprecated).slice(0, MAX_DEPRECATION_LENGTH) }),
    bin: typeof bin === 'string' ? { [identifier.split('/').at(-1) ?? identifier]: bin } : (bin ?? {}),
    foreignDependencies: foreignDependencies(published),
  };
}

/** A time of a registry in milliseconds; undefined if it is not a valid time. */
export function readTime(text: unknown): number | undefined {
  const time = Date.parse(String(text));
  return Number.isFinite(time) ? time : undefined;
}

export interface NpmDocument {
  readonly versions: unknown;
  readonly time: unknown;
  readonly 'dist-tags': unknown;
}

/** All versions of a package. */
export async function fetchDocument(
  name: string,
  { fetch, registry, signal }: Pick<FactsOptions, 'fetch' | 'signal'> & { readonly registry: NpmRegistry },
): Promise<NpmDocument> {
  if (!isNpmName(name))
    throw packageRefused(`${JSON.stringify(name.slice(0, 200))} is not a valid npm package name.`);
  const response = await fetchFromRegistry(`${registry.url}${name.replace('/', '%2f')}`, {
    fetch,
    registry,
    signal,
  });
  if (response.status === 404 || response.status === 405)
    throw packageRefused(`The registry has no package ${name}.`);
  if (!response.ok) throw unavailable(name, `HTTP ${response.status}`);
  const body: unknown = await Promise.resolve(parseLosslessInSlices(await response.text())).catch(
    () => undefined,
  );
  if (typeof body !== 'object' || body === null)
    throw packageRefused(`The npm registry's response for ${name} is not valid JSON.`);
  return {
    versions: Reflect.get(body, 'versions'),
    time: Reflect.get(body, 'time'),
    'dist-tags': Reflect.get(body, 'dist-tags'),
  };
}

/** Redirects are not followed: only the registry itself is trusted to serve its files. */
export async function fetchFromRegistry(
  url: string,
  { fetch, registry, signal }: Pick<FactsOptions, 'fetch' | 'signal'> & { readonly registry: NpmRegistry },
): Promise<Response> {
  const headers = {
    accept: 'application/json, */*',
    ...(registry.authorization && { authorization: registry.authorization }),
  };
  const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error instanceof TypeError ? unavailable(new URL(url).origin, 'it cannot be reached') : error;
  });
  if (response.status >= 300 && response.status < 400 && response.status !== 304)
    throw packageRefused(
      `The registry redirects ${new URL(url).pathname} to ${originOf(response.headers.get('location') ?? '')}, and redirects are not followed.`,
      'Configure a registry that serves its package files directly, without redirects.',
    );
  return response;
}

const unavailable = (what: string, why: string) =>
  installError(
    'CONNECT_FAILED',
    `Cannot get ${what} from the npm registry: ${why}.`,
    'Try again later, and check the address of the npm registry in your configuration.',
  );

export const toPublishedVersion = (value: unknown): PublishedVersion | undefined =>
  versionShape.safeParse(value).data;

export const isInRegistry = (tarball: string, registry: NpmRegistry): boolean =>
  URL.canParse(tarball) && new URL(tarball).origin === new URL(registry.url).origin;

/** The part of an untrusted address that may be shown. */
export function originOf(address: string): string {
  if (!URL.canParse(address)) return 'an invalid address';
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`.slice(0, 200);
}

export const ownMember = (object: unknown, key: string): unknown =>
  typeof object === 'object' && object !== null && Object.hasOwn(object, key)
    ? Reflect.get(object, key)
    : undefined;

/** `name` at an address, in a file or in a repository; ranges, tags and aliases of the registry are fine. */
export function foreignDependencies(published: PublishedVersion): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = published;
  return [dependencies, optionalDependencies, peerDependencies]
    .flatMap((list) => Object.entries(list ?? {}))
    .filter(([name, spec]) => !isNpmName(name) || isForeignSpec(spec))
    .map(([name, spec]) => `${name} (${spec.slice(0, 100)})`);
}

const isForeignSpec = (spec: string): boolean => !spec.startsWith('npm:') && /[:/\\]|^\.|^~$/.test(spec);
