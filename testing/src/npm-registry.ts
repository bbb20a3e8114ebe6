/**
 * A package registry on loopback that speaks the protocol of npm: documents with versions, tags and times, and
 * tarballs with their real integrity. Packages are made in the test, also hostile ones.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeTarball, type TarEntry } from './tarball.js';

export interface RegistryPackage {
  readonly name: string;
  readonly version: string;
  /** Contents by path in the package. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further members of package.json: bin, dependencies, scripts, … */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Entries of the tarball as they are, beside the files. */
  readonly entries?: readonly TarEntry[];
  /** Members of the version in the document that differ from package.json. */
  readonly published?: Readonly<Record<string, unknown>>;
  /** Members of `dist` that differ from the truth: `{ integrity }`, `{ tarball }`. */
  readonly dist?: Readonly<Record<string, unknown>>;
  readonly publishedAt?: string;
}

export interface NpmRegistryOptions {
  readonly packages: readonly RegistryPackage[];
  /** The value that the header Authorization has to have. */
  readonly authorization?: string;
}

export interface RunningNpmRegistry {
  /** With a slash at the end. */
  readonly url: string;
  /** Paths of all requests so far. */
  readonly requests: readonly string[];
  /** Serves another tarball from now on, without a new document. */
  swapTarball(one: RegistryPackage): void;
  /** Answers requests for paths that begin like this with a redirect. */
  redirect(path: string, location: string): void;
  /** Requests for paths that contain this get no answer from now on. */
  hold(path: string): void;
  /** Answers again, new requests only. */
  release(): void;
  /** The integrity of a tarball as it was published. */
  integrityOf(name: string, version: string): string;
  stop(): Promise<void>;
}

interface Published {
  readonly one: RegistryPackage;
  readonly integrity: string;
  readonly shasum: string;
  tarball: Buffer;
}

const LONG_AGO = '2020-01-01T00:00:00.000Z';

export async function startNpmRegistry(options: NpmRegistryOptions): Promise<RunningNpmRegistry> {
  const registry = new NpmRegistry(options);
  const server = createServer((request, response) => registry.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  registry.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url: registry.url,
    requests: registry.requests,
    swapTarball: (one) => registry.swap(one),
    redirect: (path, location) => void registry.redirects.set(path, location),
    hold: (path) => void registry.held.add(path),
    release: () => registry.held.clear(),
    integrityOf: (name, version) => registry.find(name, version)?.integrity ?? '',
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

class NpmRegistry {
  url = '';
  readonly requests: string[] = [];
  readonly redirects = new Map<string, string>();
  readonly held = new Set<string>();
  readonly #authorization: string | undefined;
  readonly #published: readonly Published[];

  constructor({ packages, authorization }: NpmRegistryOptions) {
    this.#authorization = authorization;
    this.#published = packages.map(publish);
  }

  find(name: string, version: string): Published | undefined {
    return this.#published.find(({ one }) => one.name === name && one.version === version);
  }

  swap(one: RegistryPackage): void {
    const found = this.find(one.name, one.version);
    if (found !== undefined) found.tarball = publish(one).tarball;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname);
    this.requests.push(path);
    if ([...this.held].some((part) => path.includes(part))) return;
    const [, location] = [...this.redirects].find(([start]) => path.startsWith(start)) ?? [];
    if (location !== undefined) return void response.writeHead(302, { location }).end();
    if (this.#authorization !== undefined && request.headers.authorization !== this.#authorization)
      return void response.writeHead(401).end('{}');
    const tarball = this.#published.find(({ one }) => path === tarballPath(one))?.tarball;
    if (tarball !== undefined)
      return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
    const document = this.#document(path.slice(1));
    if (document === undefined) return void response.writeHead(404).end('{"error":"Not found"}');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  }

  #document(name: string): unknown {
    const all = this.#published.filter(({ one }) => one.name === name);
    const last = all.at(-1);
    if (last === undefined) return undefined;
    const times = all.map(({ one }) => [one.version, one.publishedAt ?? LONG_AGO]);
    return {
      _id: name,
      name,
      'dist-tags': { latest: last.one.version },
      versions: Object.fromEntries(all.map((each) => [each.one.version, this.#version(each)])),
      time: { created: LONG_AGO, modified: LONG_AGO, ...Object.fromEntries(times) },
    };
  }

  #version({ one, integrity, shasum }: Published): unknown {
    const tarball = `${this.url.slice(0, -1)}${tarballPath(one)}`;
    return { ...manifestOf(one), ...one.published, dist: { integrity, shasum, tarball, ...one.dist } };
  }
}

const tarballPath = ({ name, version }: RegistryPackage): string =>
  `/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;

const manifestOf = ({ name, version, manifest }: RegistryPackage): Record<string, unknown> => ({
  name,
  version,
  ...manifest,
});

function publish(one: RegistryPackage): Published {
  const files = { 'package.json': JSON.stringify(manifestOf(one)), ...one.files };
  const entries = Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content }));
  const tarball = makeTarball([...entries, ...(one.entries ?? [])]);
  return {
    one,
    tarball,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
  };
}
