/** A server that somebody else runs: nothing is installed, only an address and headers are configured. Pure. */

import type { KindOptions, KindPlan } from './install-plan.js';
import type { InstallableRemote } from './installable-record.js';
import { RecordFault } from './record-inputs.js';
import type { InstallRefusal } from './refusal.js';

const TYPES: Readonly<Record<string, 'http' | 'sse'>> = { 'streamable-http': 'http', sse: 'sse' };

export function planRemote(remote: InstallableRemote, { inputs }: KindOptions): KindPlan | InstallRefusal {
  const type = Object.hasOwn(TYPES, remote.type) ? TYPES[remote.type] : undefined;
  if (type === undefined)
    throw new RecordFault(`has a remote of the type ${JSON.stringify(remote.type.slice(0, 50))}`);
  // The braces of variables are no part of an address.
  const plain = remote.url.replace(/[{}]/g, '');
  if (!URL.canParse(plain) || new URL(plain).protocol !== 'https:' || /\p{Cc}|\s/u.test(remote.url))
    throw new RecordFault('has an address that does not begin with https://');
  const { username, password } = new URL(plain);
  if (username !== '' || password !== '')
    throw new RecordFault('has an address with a user name or password');
  const variables = Object.fromEntries(
    Object.entries(remote.variables ?? {}).map(([name, one]) => [
      name,
      { ...one, isRequired: one.default === undefined },
    ]),
  );
  return {
    server: {
      type,
      url: inputs.text({ value: remote.url, variables }, 'url'),
      headers: inputs.headers(remote.headers),
    },
    warnings: [`everything that is sent to the server leaves this machine for ${new URL(plain).host}`],
  };
}
