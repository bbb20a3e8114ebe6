/** What waits for a person's answer. */
import { type ApprovalRequest, type Runtime, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import { readJson } from '../http/body.js';
import { mayApprove } from '../tokens/token-grant.js';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { cleanTexts } from './clean.js';
import { notThere } from './not-there.js';
import { APPROVAL } from './shapes.js';
import { sightOf } from './sight.js';

const ANSWER_BODY = z.strictObject({ answer: z.enum(['once', 'session', 'always', 'deny']) });

export function createApprovalRoutes(runtime: Runtime, tokens: ApiParts['tokens']): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/approvals',
      access: 'look',
      summary: 'Calls that wait for a person, the oldest first',
      answer: z.object({ approvals: z.array(APPROVAL) }),
      handle: async (visit) => {
        const sight = sightOf(runtime, visit);
        const approvals = await sight.seenOf(runtime.approvals.pending(), (asked) => asked);
        return cleanTexts({ approvals }, runtime);
      },
    },
    {
      method: 'GET',
      path: '/api/approvals/:id',
      access: 'manage',
      summary: 'One of them with all that would be sent, also where the list shows a part of it',
      answer: APPROVAL,
      handle: async (visit) => {
        const { id = '' } = visit.parameters;
        const asked = await runtime.approvals.whole(id);
        if (asked === undefined || !sightOf(runtime, visit).sees(asked)) throw nothingWaits(id);
        return cleanTexts(asked, runtime);
      },
    },
    {
      method: 'POST',
      path: '/api/approvals/:id',
      access: 'manage',
      summary:
        'Answer for a person: for this call, for the session, from now on, or not at all; not your own call',
      body: ANSWER_BODY,
      answer: z.object({ id: z.string(), answer: ANSWER_BODY.shape.answer }),
      handle: async (visit) => {
        const { id = '' } = visit.parameters;
        const { answer } = await readJson(visit, ANSWER_BODY);
        const asked = runtime.approvals.pending().find((one) => one.id === id);
        if (asked === undefined || !sightOf(runtime, visit).sees(asked)) throw nothingWaits(id);
        if (!asked.answers.includes(answer)) throw notOffered(asked, answer);
        if (answer !== 'deny' && !mayApprove(visit.visitor, asked.callerId, tokens.list())) throw ownCall();
        runtime.approvals.answer(id, answer, visit.caller.id);
        return { id, answer };
      },
    },
  ];
}

const nothingWaits = (id: string): TurnbuckleError =>
  notThere(
    `Nothing waits for an answer under "${id}".`,
    'It was answered, or its time is over. What waits now: turnbuckle approvals, or GET /api/approvals.',
  );

const notOffered = ({ isCut = false, answers }: ApprovalRequest, answer: string): TurnbuckleError =>
  new TurnbuckleError(
    'ARGUMENTS_INVALID',
    isCut
      ? `Not all of this call can be shown: it cannot be answered with "${answer}".`
      : `"${answer}" would have no effect here.`,
    { hint: `Answer one of: ${answers.join(', ')}.` },
  );

const ownCall = (): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    'A call is not approved with the token that made it, nor with one that comes from the same token.',
    { hint: "Answer with another token, or with the owner's: turnbuckle approvals." },
  );
