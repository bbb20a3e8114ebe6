/**
 * The config entry that a plan would write, as lines for the person who is asked: all of it, with secrets by name.
 * Texts of the record are quoted where they could pass for something else. Pure.
 */
import { toSandboxPolicy } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import { type InputField, type LocalTemplate, sandboxSettings, type TextTemplate } from './entry-template.js';
import type { InstallPlan } from './install-plan.js';

type Values = Readonly<Record<string, string>>;

export function showPlan(
  { kind, server, inputs }: Pick<InstallPlan, 'kind' | 'server' | 'inputs'>,
  values: Values = {},
): string[] {
  const show = (text: TextTemplate): string => showText(text, inputs, values);
  const named = (what: string, joint: string, map: Readonly<Record<string, TextTemplate>>): string[] =>
    Object.entries(map).map(([name, text]) => {
      const condition = isOptional(text, inputs, values) ? ' (only if you fill it in)' : '';
      return `${what}: ${name}${joint}${show(text)}${condition}`;
    });
  if (server.type !== 'stdio')
    return [
      `address: ${show(server.url)} (${server.type})`,
      ...named('header', ': ', server.headers),
      'runs: on a remote machine, with no access to this one',
    ];
  const groups = server.args.map((group) => {
    const words = group.map(show).join(' ');
    return group.some((text) => isOptional(text, inputs, values)) ? `[${words}]` : words;
  });
  return [
    `command: ${[quote(server.command), ...groups].join(' ')}`,
    ...named('environment', '=', server.env),
    ...showRights(server, kind, inputs),
  ];
}

/** What its process may do. */
function showRights(
  { sandboxRead }: LocalTemplate,
  kind: InstallPlan['kind'],
  inputs: readonly InputField[],
): string[] {
  if (kind === 'oci')
    return ['sandbox: none; it runs in a container without your files, with network access'];
  if (sandboxRead === undefined)
    return ['sandbox: none; it may read and change all your files, and use the network'];
  const network = toSandboxPolicy(sandboxSettings(sandboxRead))?.network !== false;
  const plain = inputs.filter(({ isSecret }) => !isSecret).map(({ name }) => name);
  return [
    `sandbox: on, ${network ? 'with' : 'without'} network access`,
    `may read: ${sandboxRead.map(quote).join(' ')}, and the programs and libraries of this machine`,
    'may write: its own home directory, not yours',
    ...(plain.length === 0
      ? []
      : [
          `may write: if you fill in the path of a directory, that directory; of a file, all of its directory (${plain.join(', ')})`,
        ]),
  ];
}

function showText(text: TextTemplate, inputs: readonly InputField[], values: Values): string {
  if (text.length === 0) return "''";
  return text
    .map((piece) => {
      if (typeof piece === 'string') return quote(piece);
      const value = knownValue(piece.input, inputs, values);
      if (value !== undefined) return quote(value);
      return isSecret(piece.input, inputs) ? `<secret ${piece.input}>` : `<${piece.input}>`;
    })
    .join('');
}

/** Left out of the entry while nobody gives a value. */
const isOptional = (text: TextTemplate, inputs: readonly InputField[], values: Values): boolean =>
  text.some(
    (piece) =>
      typeof piece !== 'string' &&
      knownValue(piece.input, inputs, values) === undefined &&
      inputs.find(({ name }) => name === piece.input)?.isRequired !== true,
  );

function knownValue(name: string, inputs: readonly InputField[], values: Values): string | undefined {
  if (isSecret(name, inputs)) return undefined;
  return Object.hasOwn(values, name) ? values[name] : inputs.find((input) => input.name === name)?.default;
}

const isSecret = (name: string, inputs: readonly InputField[]): boolean =>
  inputs.find((input) => input.name === name)?.isSecret === true;

/** Brackets and `<` are always quoted: unquoted ones are ours. */
const quote = (text: string): string => (/^[\w.:@%+,/=~?&#-]+$/.test(text) ? text : shellQuote(text));
