/** A server that somebody else runs: nothing is installed, only an address and headers are configured. Pure. */

import type { TextTemplate } from './entry-template.js';
import { isPlainAddress } from './identifiers.js';
import type { KindOptions, KindPlan } from './install-plan.js';
import type { InstallableRemote } from './installable-record.js';
import { RecordFault } from './record-inputs.js';
import type { InstallRefusal } from './refusal.js';

const TYPES: Readonly<Record<string, 'http' | 'sse'>> = { 'streamable-http': 'http', sse: 'sse' };
const VARIABLE = /\{([A-Za-z_][A-Za-z0-9_.-]{0,100})\}/g;

/** With the values that the record fixes; what a person fills in stays in braces. */
export const addressOf = ({ url, variables = {} }: InstallableRemote): string =>
  url.replaceAll(VARIABLE, (written, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name]?.value ?? written) : written,
  );

export function planRemote(remote: InstallableRemote, { inputs }: KindOptions): KindPlan | InstallRefusal {
  const type = Object.hasOwn(TYPES, remote.type) ? TYPES[remote.type] : undefined;
  if (type === undefined)
    throw new RecordFault(`has a remote of the type ${JSON.stringify(remote.type.slice(0, 50))}`);
  if (!remote.url.startsWith('https://'))
    throw new RecordFault('has an address that does not begin with https://');
  const variables = Object.fromEntries(
    Object.entries(remote.variables ?? {}).map(([name, one]) => [
      name,
      { ...one, isRequired: one.default === undefined },
    ]),
  );
  const url = inputs.text({ value: remote.url, variables }, 'url');
  // What is filled in later has no character that could end the host or the path.
  if (!isPlainAddress(textOf(url, () => 'x')))
    throw new RecordFault(
      'has a URL that contains a user name, uses variables that it does not declare, or is not in its normal form',
    );
  const [host] = textOf(url, (name) => `<${name}>`)
    .slice('https://'.length)
    .split(/[/?#]/);
  return {
    server: { type, url, headers: inputs.headers(remote.headers) },
    warnings: [`everything sent to the server leaves this machine and goes to ${host}`],
  };
}

const textOf = (template: TextTemplate, fill: (name: string) => string): string =>
  template.map((piece) => (typeof piece === 'string' ? piece : fill(piece.input))).join('');
