/** Asks the registry of a container image for the digest of a tag, as anybody may. */
import { createHash } from 'node:crypto';
import { type GuardedFetch, isRecord } from 'turnbuckle/host';
import { DIGEST, type ImageName } from './identifiers.js';
import type { PackageFacts } from './install-plan.js';
import { installError, packageRefused } from './refusal.js';

export interface DigestOptions {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
}

const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** The API of Docker Hub is not at its name. */
const API_HOSTS: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/** Rejects with FETCH_REFUSED or CONNECT_FAILED. */
export async function readOciFacts(image: ImageName, options: DigestOptions): Promise<PackageFacts> {
  if (image.digest !== undefined) return { integrity: image.digest };
  const { registry, repository, tag = '' } = image;
  const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(registry) ? 'http' : 'https';
  const url = `${scheme}://${API_HOSTS[registry] ?? registry}/v2/${repository}/manifests/${tag}`;
  const headers = { accept: MANIFEST_TYPES };
  const { fetch, signal } = options;
  let response = await fetch(url, { headers, signal });
  if (response.status === 401) {
    const token = await anonymousToken(response.headers.get('www-authenticate') ?? '', image, options);
    response = await fetch(url, { headers: { ...headers, authorization: `Bearer ${token}` }, signal });
  }
  if (!response.ok)
    throw installError(
      'CONNECT_FAILED',
      `The image ${repository}:${tag} cannot be read from ${registry} without signing in (HTTP ${response.status}).`,
      'Check the name and version of the image, or pin it by its digest.',
    );
  const digest = `sha256:${createHash('sha256')
    .update(new Uint8Array(await response.arrayBuffer()))
    .digest('hex')}`;
  const announced = response.headers.get('docker-content-digest');
  if (announced !== null && DIGEST.test(announced) && announced !== digest)
    throw packageRefused(
      `The manifest of ${repository}:${tag} from the registry ${registry} does not match its digest.`,
    );
  return { integrity: digest };
}

async function anonymousToken(
  challenge: string,
  { repository }: ImageName,
  { fetch, signal }: DigestOptions,
): Promise<string> {
  const part = (name: string): string | undefined =>
    new RegExp(`[ ,]${name}="([^"]{0,500})"`, 'i').exec(challenge)?.[1];
  const realm = part('realm') ?? '';
  if (!/^bearer /i.test(challenge) || !URL.canParse(realm))
    throw packageRefused('The image registry requires you to sign in.');
  const url = new URL(realm);
  url.searchParams.set('service', part('service') ?? '');
  url.searchParams.set('scope', `repository:${repository}:pull`);
  const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
  const body: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  const token = isRecord(body) ? (body.token ?? body.access_token) : undefined;
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,10000}$/.test(token))
    throw packageRefused('The image registry did not issue a token for reading the image.');
  return token;
}
