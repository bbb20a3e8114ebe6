/**
 * The parts of a record that decide what is run or reached, as the registry's API (v0.1) describes them. Each package
 * and each remote is taken whole or not at all: without one of its arguments it would be another command.
 */
import { firstKeys, isRecord } from 'turnbuckle/host';
import * as z from 'zod/mini';

const MAX_INPUTS = 100;
const MAX_VARIABLES = 50;
const MAX_CHOICES = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is rejected
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Text that is only shown or searched: the beginning of a long one is enough. */
const shownText = (max: number) =>
  z.pipe(
    z.string(),
    z.transform((text) => text.slice(0, max)),
  );
/** Shown text whose absence or wrong type harms nothing. */
export const optionalText = (max: number) => z.catch(z.optional(shownText(max)), undefined);
/** Text that is used as it is: never shortened. */
const exact = (max: number) =>
  z.string().check(
    z.maxLength(max),
    z.refine((text) => !text.includes('\0')),
  );
const word = (max: number) =>
  z.string().check(
    z.minLength(1),
    z.maxLength(max),
    z.refine((text) => !CONTROL.test(text)),
  );
/** Publishers write numbers and booleans without quotes too. */
const value = z.pipe(
  z.union([exact(4_096), z.number(), z.boolean()]),
  z.transform((one) => String(one)),
);

/** Counted before they are validated: describing every fault of a long list takes seconds. */
const list = <Item extends z.ZodMiniType>(item: Item, max: number) =>
  z.pipe(
    z.pipe(
      z.nullish(z.custom<z.input<Item>[]>((items) => Array.isArray(items) && items.length <= max)),
      z.transform((items) => items ?? []),
    ),
    z.array(item),
  );

const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((on) => on === true),
);

const INPUT = {
  description: optionalText(2_000),
  isRequired: flag,
  isSecret: flag,
  format: z.catch(z.optional(z.enum(['string', 'number', 'boolean', 'filepath'])), undefined),
  /** Used when nobody gives a value. */
  default: z.optional(value),
  placeholder: optionalText(1_000),
  /** Fixed by the publisher; `{name}` in it stands for one of the variables. */
  value: z.optional(value),
  /** Absent: any value. */
  choices: z.pipe(
    list(value, MAX_CHOICES),
    z.transform((choices) => (choices.length === 0 ? undefined : choices)),
  ),
};

const variables = z.optional(
  z.pipe(
    z.custom<Record<string, unknown>>((map) => isRecord(map) && firstKeys(map).length <= MAX_VARIABLES),
    z.record(word(256), z.object(INPUT)),
  ),
);
const WITH_VARIABLES = { ...INPUT, variables };

const environmentVariable = z.object({
  ...WITH_VARIABLES,
  name: z.string().check(z.regex(/^[^\s=\0]{1,256}$/)),
});
const header = z.object({
  ...WITH_VARIABLES,
  name: z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/)),
});
const argument = z.discriminatedUnion('type', [
  z.object({
    ...WITH_VARIABLES,
    type: z.literal('positional'),
    isRepeated: flag,
    valueHint: z.optional(word(256)),
  }),
  z.object({ ...WITH_VARIABLES, type: z.literal('named'), isRepeated: flag, name: word(256) }),
]);

/** A template: `{name}` in it stands for a variable. */
const endpoint = z.string().check(z.maxLength(2_048), z.regex(/^https?:\/\/[^\s\0]+$/));
const network = { url: endpoint, headers: list(header, MAX_INPUTS) };
const localTransport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stdio') }),
  z.object({ type: z.literal('streamable-http'), ...network }),
  z.object({ type: z.literal('sse'), ...network }),
]);

/** One exact version: neither a range nor a name that moves. */
const version = z.string().check(
  z.maxLength(255),
  z.regex(/^[0-9A-Za-z][0-9A-Za-z.+_-]*$/),
  z.refine((text) => text.toLowerCase() !== 'latest' && !/(?:^|\.)[xX](?:\.|$)/.test(text)),
);

const PACKAGE = {
  version: z.optional(version),
  registryBaseUrl: z.optional(z.string().check(z.maxLength(1_024), z.regex(/^https?:\/\/[^\s\0]+$/))),
  runtimeHint: z.optional(word(64)),
  fileSha256: z.optional(z.string().check(z.regex(/^[a-f0-9]{64}$/))),
  transport: z._default(localTransport, { type: 'stdio' }),
  environmentVariables: list(environmentVariable, MAX_INPUTS),
  packageArguments: list(argument, MAX_INPUTS),
  runtimeArguments: list(argument, MAX_INPUTS),
};
const identifier = (max: number, pattern: RegExp) => z.string().check(z.maxLength(max), z.regex(pattern));

export const PACKAGE_SCHEMA = z.discriminatedUnion('registryType', [
  z.object({
    ...PACKAGE,
    registryType: z.literal('npm'),
    identifier: identifier(214, /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i),
  }),
  z.object({
    ...PACKAGE,
    registryType: z.literal('pypi'),
    identifier: identifier(200, /^[a-z0-9][a-z0-9._-]*$/i),
  }),
  z.object({
    ...PACKAGE,
    registryType: z.literal('oci'),
    identifier: identifier(512, /^[a-z0-9][a-z0-9._:/@-]*$/i),
  }),
  z.object({
    ...PACKAGE,
    registryType: z.literal('mcpb'),
    identifier: identifier(2_048, /^https:\/\/[^\s\0]+$/),
  }),
  z.object({
    ...PACKAGE,
    registryType: z.literal('nuget'),
    identifier: identifier(100, /^[a-z0-9_][a-z0-9._-]*$/i),
  }),
]);

export const REMOTE_SCHEMA = z.discriminatedUnion('type', [
  z.object({ type: z.literal('streamable-http'), ...network, variables }),
  z.object({ type: z.literal('sse'), ...network, variables }),
]);

export const REPOSITORY_SCHEMA = z.object({
  url: z.string().check(z.maxLength(1_024), z.regex(/^https?:\/\/[^\s\0]+$/)),
  source: optionalText(64),
  id: optionalText(256),
  subfolder: optionalText(512),
});

/** A package of npm, PyPI, an OCI registry, NuGet, or an MCP bundle. */
export type RecordPackage = Readonly<z.output<typeof PACKAGE_SCHEMA>>;
/** A server that runs elsewhere. */
export type RecordRemote = Readonly<z.output<typeof REMOTE_SCHEMA>>;
export type RecordRepository = Readonly<z.output<typeof REPOSITORY_SCHEMA>>;
