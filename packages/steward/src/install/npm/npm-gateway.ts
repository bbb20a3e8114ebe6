/**
 * The only address that npm reaches while it installs: a registry on loopback, for one installation, that passes on
 * what the configured registries serve. So credentials never leave this process, no other host is asked, and each file
 * is checked before npm gets it. Everything else that npm asks for (npm is told that this is its proxy) is refused and
 * remembered as the reason.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GuardedFetch, toTurnbuckleError } from 'turnbuckle/host';
import { TREE_LIMITS } from '../install-directory.js';
import { packageRefused } from '../refusal.js';
import { inspectTarball, TarballFault } from './inspect-tarball.js';
import type { NpmConfig, NpmRegistry } from './npm-config.js';
import {
  fetchDocument,
  fetchFromRegistry,
  isInRegistry,
  type NpmDocument,
  originOf,
  ownMember,
  type PublishedVersion,
  readTime,
  toPublishedVersion,
} from './npm-facts.js';

export interface NpmGatewayOptions {
  readonly npm: NpmConfig;
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  /** Later versions are left out, where the registry says when they were published. */
  readonly publishedBefore?: number | undefined;
}

export interface NpmGateway {
  /** The address of the registry, with a slash at the end. */
  readonly url: string;
  /** The address of the proxy that refuses everything. */
  readonly proxy: string;
  /** Aborted as soon as something is refused; its reason says why. npm would wait, or try again. */
  readonly refused: AbortSignal;
  close(): Promise<void>;
}

interface KnownFile {
  readonly what: string;
  readonly url: string;
  readonly registry: NpmRegistry;
  readonly dist: PublishedVersion['dist'];
}

const MAX_PACKAGES = 3_000;

export async function startNpmGateway(options: NpmGatewayOptions): Promise<NpmGateway> {
  const gateway = new Gateway(options);
  const server = createServer((request, response) => void gateway.answer(request, response));
  server.on('connect', (request, socket) => {
    gateway.refuseForeign(`https://${request.url}`);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  gateway.base = `${proxy}${gateway.key}/`;
  return {
    url: gateway.base,
    proxy,
    refused: gateway.refused.signal,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

class Gateway {
  /** Other users of this machine can reach the port, and must not get packages of a private registry. */
  readonly key = randomBytes(24).toString('hex');
  /** The address of the registry. */
  base = '';
  readonly refused = new AbortController();
  readonly #options: NpmGatewayOptions;
  readonly #files = new Map<string, KnownFile>();
  #packages = 0;
  #unpackedFiles = 0;
  #unpackedBytes = 0;

  constructor(options: NpmGatewayOptions) {
    this.#options = options;
  }

  get #origin(): string {
    return new URL(this.base).origin;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    try {
      const path = this.#pathOf(request);
      if (path === undefined) return void response.writeHead(403).end();
      if (path.startsWith('-/file/')) {
        const data = await this.#file(path);
        return void response.writeHead(200).end(data);
      }
      const text = JSON.stringify(await this.#document(decodeURIComponent(path)));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    } catch (error) {
      this.refused.abort(toTurnbuckleError(error));
      response.writeHead(403).end();
    }
  }

  refuseForeign(address: string): void {
    this.refused.abort(
      packageRefused(
        `The package downloads something from ${originOf(address)}, which is not the npm registry.`,
      ),
    );
  }

  /** Behind the key; undefined if it has none. A proxy is asked with whole addresses. */
  #pathOf({ url = '', method }: IncomingMessage): string | undefined {
    const [path = ''] = (url.startsWith(this.base) ? url.slice(this.#origin.length) : url).split('?');
    if (!path.startsWith('/')) this.refuseForeign(url);
    const [, key = '', ...rest] = path.split('/');
    const [given, own] = [key, this.key].map((text) => createHash('sha256').update(text).digest());
    if (given === undefined || own === undefined || !timingSafeEqual(given, own)) return undefined;
    return method === 'GET' ? rest.join('/') : undefined;
  }

  /** Only what npm needs to choose versions, with files at our own address. */
  async #document(name: string): Promise<unknown> {
    this.#packages += 1;
    if (this.#packages > MAX_PACKAGES)
      throw packageRefused(`The package has more than ${MAX_PACKAGES} dependencies.`);
    const { npm, fetch, signal, publishedBefore = Number.POSITIVE_INFINITY } = this.#options;
    const registry = npm.registryOf(name);
    const document = await fetchDocument(name, { fetch, registry, signal });
    const versions = Object.entries(Object(document.versions)).flatMap(([version, value]) => {
      const published = toPublishedVersion(value);
      if (published === undefined || published.name !== name || published.version !== version) return [];
      if (publishedAtOf(document, version) > publishedBefore) return [];
      return [[version, this.#version(published, { registry, value })] as const];
    });
    const known = Object.fromEntries(versions);
    return { name, 'dist-tags': tagsOf(document, Object.keys(known)), versions: known };
  }

  #version(
    published: PublishedVersion,
    { registry, value }: { registry: NpmRegistry; value: unknown },
  ): unknown {
    const { name, version, dist } = published;
    const id = createHash('sha256')
      .update(JSON.stringify([name, version]))
      .digest('hex');
    this.#files.set(id, { what: `${name}@${version}`, url: dist.tarball, registry, dist });
    const kept = KEPT_KEYS.flatMap((key) => {
      const member = ownMember(value, key);
      return member === undefined ? [] : [[key, member]];
    });
    const { integrity, shasum } = dist;
    return {
      ...Object.fromEntries(kept),
      dist: { integrity, shasum, tarball: `${this.base}-/file/${id}.tgz` },
    };
  }

  async #file(path: string): Promise<Uint8Array> {
    const file = this.#files.get(/^-\/file\/([a-f0-9]{64})\.tgz$/.exec(path)?.[1] ?? '');
    if (file === undefined)
      throw packageRefused('npm requested a file that does not belong to any package in this installation.');
    const { what, url, registry, dist } = file;
    if (!isInRegistry(url, registry))
      throw packageRefused(`The file for ${what} is not in the registry but at ${originOf(url)}.`);
    const response = await fetchFromRegistry(url, { ...this.#options, registry });
    if (!response.ok) throw packageRefused(`The registry has no file for ${what} (HTTP ${response.status}).`);
    const data = new Uint8Array(await response.arrayBuffer());
    if (!hasIntegrity(data, dist))
      throw packageRefused(
        `The file for ${what} does not match its integrity hash: it was replaced or damaged.`,
      );
    await this.#inspect(what, data);
    return data;
  }

  async #inspect(what: string, data: Uint8Array): Promise<void> {
    try {
      const { files, bytes } = await inspectTarball(data, {
        maxFiles: TREE_LIMITS.maxFiles - this.#unpackedFiles,
        maxBytes: TREE_LIMITS.maxBytes - this.#unpackedBytes,
      });
      this.#unpackedFiles += files;
      this.#unpackedBytes += bytes;
    } catch (error) {
      throw error instanceof TarballFault
        ? packageRefused(`The tarball for ${what} ${error.message}.`)
        : error;
    }
  }
}

/** Unknown: as if it were old. */
const publishedAtOf = ({ time }: NpmDocument, version: string): number =>
  readTime(ownMember(time, version)) ?? 0;

/** Without tags of versions that are left out. `latest` is then the version that was published last. */
function tagsOf(document: NpmDocument, versions: readonly string[]): Record<string, unknown> {
  const known = new Set<unknown>(versions);
  const tags = Object.entries(Object(document['dist-tags'])).filter(([, version]) => known.has(version));
  const [latest] = versions
    .filter((version) => !version.includes('-'))
    .sort((one, other) => publishedAtOf(document, other) - publishedAtOf(document, one));
  return { ...(latest !== undefined && { latest }), ...Object.fromEntries(tags) };
}

const KEPT_KEYS = [
  'name',
  'version',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bundleDependencies',
  'bundledDependencies',
  'engines',
  'os',
  'cpu',
  'libc',
  'bin',
  'deprecated',
  'hasInstallScript',
];

function hasIntegrity(data: Uint8Array, { integrity, shasum }: PublishedVersion['dist']): boolean {
  const [, algorithm = '', expected = ''] =
    /^(sha512|sha384|sha256|sha1)-([A-Za-z0-9+/=]+)$/.exec(integrity ?? '') ?? [];
  if (algorithm !== '') return createHash(algorithm).update(data).digest('base64') === expected;
  return integrity === undefined && shasum === createHash('sha1').update(data).digest('hex');
}
