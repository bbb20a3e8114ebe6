/** Downloads a bundle (mcpb) from where bundles may come from, checks its hash, and unpacks it. */
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type GuardedFetch, parseLossless } from 'turnbuckle/host';
import { createPackageDirectory } from '../install-directory.js';
import type { InstallPlan, PackageFacts } from '../install-plan.js';
import { installError, packageRefused } from '../refusal.js';
import { listZip, readZipEntry, unzipTo, ZIP_LIMITS } from './unzip.js';

export interface BundleOptions {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  /** The origins that bundles are downloaded from; absent: none. */
  readonly origins?: readonly string[] | undefined;
}

const MAX_REDIRECTS = 3;
const MAX_MANIFEST_BYTES = 1_024 * 1_024;
const SHA256 = /^[a-f0-9]{64}$/;

/** Rejects with FETCH_REFUSED. */
export async function readMcpbFacts(
  { identifier, sha256 }: { readonly identifier: string; readonly sha256: string },
  options: BundleOptions,
): Promise<PackageFacts> {
  const data = await download(identifier, sha256, options);
  const entry = listZip(data, ZIP_LIMITS).find(({ name }) => name === 'manifest.json');
  if (entry === undefined || entry.size > MAX_MANIFEST_BYTES)
    throw packageRefused('The bundle has no manifest.json, or its manifest.json is too large.');
  try {
    const text = Buffer.from(await readZipEntry(data, entry)).toString('utf8');
    return { integrity: sha256, manifest: parseLossless(text) };
  } catch {
    throw packageRefused('The manifest.json in the bundle is not valid.');
  }
}

/** The hash over the installed files. */
export function installMcpb(plan: InstallPlan, options: BundleOptions): Promise<string> {
  const { identifier, version, integrity, directory, file } = plan;
  if (integrity === undefined || directory === undefined || file === undefined)
    throw packageRefused(`The plan for ${identifier} is not complete.`);
  const facts = { kind: 'mcpb', identifier, version, integrity } as const;
  return createPackageDirectory(directory, facts, async (partial) => {
    const data = await download(identifier, integrity, options);
    const content = join(partial, 'content');
    await mkdir(content, { mode: 0o700 });
    await unzipTo(content, data, options.signal);
    const program = await stat(join(content, file)).catch(() => undefined);
    if (program?.isFile() !== true)
      throw packageRefused(`The bundle does not contain its entry point ${file}.`);
    return content;
  });
}

async function download(address: string, sha256: string, options: BundleOptions): Promise<Uint8Array> {
  if (!SHA256.test(sha256)) throw packageRefused("The bundle's registry record has no valid SHA-256 hash.");
  const response = await fetchAllowed(address, options);
  if (!response.ok)
    throw installError(
      'CONNECT_FAILED',
      `Cannot download the bundle ${address} (HTTP ${response.status}).`,
      'Try again later.',
    );
  const data = new Uint8Array(await response.arrayBuffer());
  if (createHash('sha256').update(data).digest('hex') !== sha256)
    throw packageRefused(
      `The bundle ${address} does not match the SHA-256 hash in its registry record: it was replaced or damaged.`,
    );
  return data;
}

/** Each redirect has to lead to one of the origins too. */
async function fetchAllowed(
  address: string,
  { fetch, signal, origins = [] }: BundleOptions,
): Promise<Response> {
  const allowed = new Set(origins.map((origin) => new URL(origin).origin));
  let url = new URL(address);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    if (!allowed.has(url.origin))
      throw packageRefused(
        `The bundle is at ${url.origin}, which is not an allowed origin.`,
        `If you trust it, add ${url.origin} to steward.origins in your config file.`,
      );
    const response = await fetch(url.href, { signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    if (!URL.canParse(location, url.href)) break;
    url = new URL(location, url);
  }
  throw packageRefused(`The bundle ${address} redirects too often, or to an invalid address.`);
}
