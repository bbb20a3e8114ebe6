/** The steward over HTTP: requests, their status, approvals of installs, and pausing. */
import { type ApiRoute, EMPTY_OBJECT, readJson, readOptionalJson, readQuery } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { secretKey, type Vault } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { type InputField, valueFault } from '../install/entry-template.js';
import type { PathPlace } from '../install/path-values.js';
import type { InstallApproval } from '../queue/install-approvals.js';
import type { StewardMode } from '../queue/settings-table.js';
import { PRIORITIES, REQUEST_KINDS } from '../requests/request.js';
import { REQUEST_STATES } from '../requests/request-status.js';
import { checkPath } from '../work/addition/field-answers.js';
import type { StewardHost } from './steward-host.js';

export interface StewardRoutesOptions {
  /** Undefined while the steward is disabled. */
  readonly host: () => StewardHost | undefined;
  /** What paths in answers are checked against. */
  readonly place: () => PathPlace;
  readonly vault: () => Pick<Vault, 'get' | 'set' | 'delete'>;
}

const REQUEST_BODY = z.strictObject({
  type: z.enum(REQUEST_KINDS),
  params: z.record(z.string(), z.unknown()),
  priority: z.optional(z.enum(PRIORITIES)),
});
const LIST_QUERY = z.strictObject({
  state: z.optional(z.enum(REQUEST_STATES)),
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(500))),
});
const APPROVALS_QUERY = z.strictObject({
  after: z.optional(z.string().check(z.maxLength(128))),
  /** Only those of this request. */
  request: z.optional(z.string().check(z.maxLength(128))),
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(100))),
});
const CANCEL_BODY = z.strictObject({ reason: z.optional(z.string().check(z.maxLength(2_000))) });
const ANSWER_BODY = z.strictObject({
  answer: z.enum(['yes', 'no']),
  /** For the fields of the approval. Secrets go to the vault, and nowhere else. */
  values: z.optional(z.record(z.string().check(z.maxLength(256)), z.string().check(z.maxLength(16_384)))),
});
const STATUS = z.looseObject({ requestId: z.string(), state: z.enum(REQUEST_STATES) });
const APPROVAL = z.looseObject({ id: z.string(), requestId: z.string() });

const MODE = z.object({
  paused: z.boolean(),
  stopped: z.boolean(),
  /** The name of the agent that has paused its own requests. */
  heldCaller: z.optional(z.string()),
});

export function createStewardRoutes(options: StewardRoutesOptions): readonly ApiRoute[] {
  return [...createRequestRoutes(options), ...createApprovalRoutes(options), ...createModeRoutes(options)];
}

function createRequestRoutes({ host }: StewardRoutesOptions): readonly ApiRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/steward/requests',
      access: 'admin',
      summary: 'Ask the steward to add, remove, test, modify or search for servers',
      body: REQUEST_BODY,
      response: z.object({ requestId: z.string() }),
      handle: async (context) => {
        const { type, params, priority } = await readJson(context, REQUEST_BODY);
        return { requestId: await requireHost(host).request({ type, params, priority }) };
      },
    },
    {
      method: 'GET',
      path: '/api/steward/requests',
      access: 'admin',
      summary: 'List requests to the steward, newest first',
      query: LIST_QUERY,
      response: z.object({ requests: z.array(STATUS) }),
      handle: async (context) => {
        const { state, limit } = readQuery(context, LIST_QUERY);
        return { requests: await requireHost(host).queue.listRequests({ states: state && [state], limit }) };
      },
    },
    {
      method: 'GET',
      path: '/api/steward/requests/:id',
      access: 'admin',
      summary: 'Show one request with its progress and result',
      response: STATUS,
      handle: ({ parameters: { id = '' } }) => requireHost(host).statusFor(id, undefined),
    },
    {
      method: 'POST',
      path: '/api/steward/requests/:id/cancel',
      access: 'admin',
      summary: 'Cancel a request and undo its changes',
      body: CANCEL_BODY,
      response: STATUS,
      handle: async (context) => {
        const { reason = 'cancelled through the API' } = await readOptionalJson(context, CANCEL_BODY);
        return requireHost(host).queue.cancelRequest(context.parameters.id ?? '', reason);
      },
    },
  ];
}

function createApprovalRoutes({ host, vault, place }: StewardRoutesOptions): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/steward/approvals',
      access: 'admin',
      summary: 'List the installations and changes that need your approval',
      query: APPROVALS_QUERY,
      response: z.object({ approvals: z.array(APPROVAL), next: z.optional(z.string()) }),
      handle: async (context) => {
        const { request, ...page } = readQuery(context, APPROVALS_QUERY);
        return { ...(await requireHost(host).approvals({ ...page, requestId: request })) };
      },
    },
    {
      method: 'POST',
      path: '/api/steward/approvals/:id',
      access: 'admin',
      summary: 'Approve or refuse an installation or change; secrets in the values are stored in the vault',
      body: ANSWER_BODY,
      response: APPROVAL,
      handle: async (context) => {
        const { answer, values = {} } = await readJson(context, ANSWER_BODY);
        const steward = requireHost(host);
        const approval = await findApproval(steward, context.parameters.id ?? '');
        const { plain, secrets } = sortValues(approval, answer === 'yes' ? values : undefined);
        for (const field of approval.fields as readonly InputField[])
          if (field.usedIn === 'sandbox' && Object.hasOwn(plain, field.name))
            await checkPath(field.name, plain[field.name] ?? '', place());
        // A vault that cannot be opened is reported while the approval can still be answered.
        for (const [name] of secrets) await vault().get(name);
        const by = context.identity.isOwner === true ? 'the owner' : context.caller.id;
        const answered = await steward.queue.answerApproval(approval.id, {
          answer,
          answeredBy: by,
          values: plain,
          secrets: secrets.map(([, , field]) => field),
        });
        await storeSecrets(steward, answered, { secrets, vault: vault() });
        return { ...answered };
      },
    },
  ];
}

async function findApproval(host: StewardHost, id: string): Promise<InstallApproval> {
  const found = host.isOpen ? await host.queue.approval(id) : undefined;
  if (found !== undefined && found.answer === undefined) return found;
  throw new TurnbuckleError('PATH_UNKNOWN', `There is no pending approval "${id}".`, {
    hint: 'List pending approvals: turnbuckle steward approvals',
  });
}

interface SortedValues {
  readonly plain: Readonly<Record<string, string>>;
  /** The key in the vault, the secret, and its field. */
  readonly secrets: ReadonlyArray<readonly [key: string, secret: string, field: string]>;
}

/** Checks the values of a yes; undefined: the answer is no. */
function sortValues(
  { fields, id }: InstallApproval,
  values: Readonly<Record<string, string>> | undefined,
): SortedValues {
  if (values === undefined) return { plain: {}, secrets: [] };
  const known = fields as readonly InputField[];
  const unknown = Object.keys(values).find((name) => !known.some((field) => field.name === name));
  if (unknown !== undefined) throw fieldFault(id, `"${unknown}" is not a field of this approval`);
  const missing = known.find(
    (field) => field.isRequired && field.default === undefined && !Object.hasOwn(values, field.name),
  );
  if (missing !== undefined) throw fieldFault(id, `a value for "${missing.name}" is required`);
  const given = known.flatMap((field) => {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (value === undefined) return [];
    const fault = valueFault(field, value);
    if (fault !== undefined) throw fieldFault(id, `the value for "${field.name}" ${fault}`);
    return [{ ...field, value }];
  });
  return {
    plain: Object.fromEntries(given.filter((one) => !one.isSecret).map(({ name, value }) => [name, value])),
    secrets: given.flatMap(({ name, isSecret, secretName, value }) =>
      isSecret && secretName !== undefined ? [[secretKey(secretName), value, name] as const] : [],
    ),
  };
}

/** After the answer was accepted: only one of several answers stores something. The worker waits for it. */
async function storeSecrets(
  steward: StewardHost,
  { id, requestId }: InstallApproval,
  { secrets, vault }: Pick<SortedValues, 'secrets'> & { readonly vault: Pick<Vault, 'set' | 'delete'> },
): Promise<void> {
  try {
    for (const [key, secret] of secrets) await vault.set(key, secret);
  } catch (error) {
    await steward.queue.cancelRequest(requestId, 'its secrets could not be stored in the vault');
    throw error;
  }
  if (secrets.length === 0) return;
  // Cancelled, or asked again under another id, meanwhile: who deletes them may have looked before they were stored.
  const isOver =
    (await steward.queue.isUndone(requestId)) || (await steward.queue.approval(id)) === undefined;
  if (isOver) for (const [key] of secrets) await vault.delete(key);
}

const fieldFault = (id: string, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Cannot answer the approval "${id}": ${why}.`, {
    hint: 'Show its fields: turnbuckle steward approvals',
  });

function createModeRoutes({ host }: StewardRoutesOptions): readonly ApiRoute[] {
  const modes = ['pause', 'resume', 'start', 'stop'] as const;
  return [
    ...modes.map(
      (mode): ApiRoute => ({
        method: 'POST',
        path: `/api/steward/${mode}`,
        access: 'admin',
        summary: MODE_SUMMARIES[mode],
        body: EMPTY_OBJECT,
        response: MODE,
        handle: async (context) => {
          await readOptionalJson(context, EMPTY_OBJECT);
          const { queue } = requireHost(host);
          await queue[mode]();
          return { ...queue.mode() };
        },
      }),
    ),
    {
      method: 'GET',
      path: '/api/steward',
      access: 'admin',
      summary: 'Show whether the steward is enabled, paused or working',
      response: z.looseObject({ enabled: z.boolean() }),
      handle: async () => {
        const steward = host();
        if (steward === undefined) return { enabled: false };
        const mode = steward.mode();
        const pendingApprovals = await steward.countApprovals();
        return {
          enabled: true,
          ...mode,
          pausedBy: holdersOf(mode),
          isActive: steward.isActive,
          pendingApprovals,
        };
      },
    },
  ];
}

/** The agent pauses only its own requests. */
const holdersOf = ({ paused, heldCaller }: StewardMode): readonly string[] => [
  ...(paused ? ['owner'] : []),
  ...(heldCaller === undefined ? [] : ['agent']),
];

const MODE_SUMMARIES = {
  pause: 'Pause the steward; running steps are interrupted and repeated later',
  resume: 'Resume the paused steward',
  start: 'Start the stopped steward',
  stop: 'Stop the steward until it is started again',
} as const;

function requireHost(host: () => StewardHost | undefined): StewardHost {
  const found = host();
  if (found !== undefined) return found;
  throw new TurnbuckleError('PATH_UNKNOWN', 'The steward is disabled.', {
    hint: 'Enable it: remove "subAgentEnabled": false from your configuration.',
  });
}
