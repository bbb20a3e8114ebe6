/** What the steward can be asked for: the kinds of requests, their parameters, and how a request from outside is checked. */
import { TurnbuckleError } from 'turnbuckle';
import { describeIssue, truncateKey } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';

export const REQUEST_KINDS = [
  'add_server',
  'remove_server',
  'test_server',
  'search_servers',
  'modify_server',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** From the least to the most urgent. */
export const PRIORITIES = ['low', 'medium', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

export interface StewardRequest {
  /** Made by the client: a request that is sent twice with the same id is one request. */
  readonly id: string;
  readonly type: RequestKind;
  readonly params: Readonly<Record<string, unknown>>;
  /** When the client made it, in ISO 8601. */
  readonly timestamp: string;
  readonly priority: Priority;
  /** The id of the caller. Absent: the host. */
  readonly requestedBy?: string;
}

/** What can be installed, or configured, by its exact name. */
const REQUESTED_PACKAGE_TYPES = ['npm', 'pypi', 'oci', 'mcpb', 'remote'] as const;

/** Of the JSON text of `params`, in characters. */
const MAX_PARAMS_LENGTH = 64 * 1_024;
const MAX_PARAMS_DEPTH = 20;
const MAX_SERVER_NAME_LENGTH = 128;
const MAX_REGISTRY_NAME_LENGTH = 256;
const MAX_TEXT_LENGTH = 2_000;
const MAX_VALUES = 100;
const MAX_SEARCH_RESULTS = 50;
const MAX_FAULTS = 10;

const boundedText = (max: number): z.ZodMiniString => z.string().check(z.minLength(1), z.maxLength(max));
const serverName = boundedText(MAX_SERVER_NAME_LENGTH);
const purpose = boundedText(MAX_TEXT_LENGTH);
/** Inputs of a server that are not secret. Secrets are never part of a request. */
const values = z
  .record(boundedText(MAX_SERVER_NAME_LENGTH), z.string().check(z.maxLength(MAX_TEXT_LENGTH)))
  .check(z.refine((all) => Object.keys(all).length <= MAX_VALUES, `expected at most ${MAX_VALUES} values`));

const addParams = z
  .strictObject({
    serverName: z.optional(serverName),
    purpose: z.optional(purpose),
    registryName: z.optional(boundedText(MAX_REGISTRY_NAME_LENGTH)),
    package: z.optional(
      z.strictObject({
        type: z.enum(REQUESTED_PACKAGE_TYPES),
        identifier: boundedText(512),
        version: boundedText(128),
      }),
    ),
    values: z.optional(values),
  })
  .check(
    z.refine(
      ({ serverName: name, purpose: why, registryName, package: exact }) =>
        [name, why, registryName, exact].some((one) => one !== undefined),
      'expected at least one of "serverName", "purpose", "registryName" and "package"',
    ),
    z.refine(({ registryName, package: exact }) => exact?.type !== 'remote' || registryName !== undefined, {
      error: 'expected "registryName" beside a package of type "remote"',
      path: ['package', 'type'],
    }),
  );

const PARAMS = {
  add_server: addParams,
  remove_server: z.strictObject({ serverName }),
  test_server: z.strictObject({ serverName }),
  search_servers: z.strictObject({
    purpose,
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_SEARCH_RESULTS))),
  }),
  modify_server: z.strictObject({ serverName, changes: z.record(z.string(), z.unknown()) }),
} as const satisfies Record<RequestKind, z.ZodMiniType>;

/** The parameters of each kind, as the steps of the kind get them. */
export type RequestParams<Kind extends RequestKind> = z.output<(typeof PARAMS)[Kind]>;

const ENVELOPE = z.strictObject({
  // No colon: the entries of the energy table are named `<id>:<step>:<attempt>`.
  id: z.string().check(
    z.regex(/^[\w.-]{1,128}$/, {
      error: 'expected 1 to 128 letters, digits, dots, hyphens or underscores',
    }),
  ),
  type: z.enum(REQUEST_KINDS),
  params: z.record(z.string(), z.unknown()),
  timestamp: z.string().check(
    z.maxLength(40),
    z.refine((text) => !Number.isNaN(Date.parse(text)), 'expected a time in ISO 8601'),
  ),
  priority: z.enum(PRIORITIES),
  requestedBy: z.optional(boundedText(256)),
});

/** The request, if it is one; otherwise ARGUMENTS_INVALID with the path and the expectation of each fault. */
export function parseRequest(input: unknown): StewardRequest {
  const { requestedBy, ...request } = check(ENVELOPE, input, '');
  checkSize(request.params);
  const params = check<Record<string, unknown>>(PARAMS[request.type], request.params, 'params');
  return { ...request, params, ...(requestedBy === undefined ? {} : { requestedBy }) };
}

function check<T>(schema: z.ZodMiniType<T>, value: unknown, where: string): T {
  const checked = z.safeParse(schema, value, { error: describeIssue });
  if (checked.success) return checked.data;
  throw invalid(
    checked.error.issues
      .slice(0, MAX_FAULTS)
      .map(({ path, message }) => ({ path: pathText(where, path), message })),
  );
}

/** Before the parameters are checked one by one: the configuration of a server may have any shape. */
function checkSize(params: unknown): void {
  if (!isShallow(params, MAX_PARAMS_DEPTH))
    throw invalid([{ path: 'params', message: `expected at most ${MAX_PARAMS_DEPTH} levels of objects` }]);
  if (jsonLength(params) > MAX_PARAMS_LENGTH)
    throw invalid([{ path: 'params', message: `expected JSON of at most ${MAX_PARAMS_LENGTH} characters` }]);
}

const isShallow = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1)));

function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    // A bigint, which JSON does not have.
    throw invalid([{ path: 'params', message: 'expected JSON values' }]);
  }
}

function invalid(
  faults: ReadonlyArray<{ readonly path: string; readonly message: string }>,
): TurnbuckleError {
  const list = faults.map(({ path, message }) => (path === '' ? message : `at "${path}": ${message}`));
  return new TurnbuckleError('ARGUMENTS_INVALID', `Invalid request to the steward: ${list.join('; ')}.`, {
    hint: 'The request was not queued. Correct these keys.',
    data: { faults },
  });
}

const pathText = (where: string, path: readonly PropertyKey[]): string =>
  [where, ...path.map((key) => truncateKey(String(key)))].filter((part) => part !== '').join('.');
