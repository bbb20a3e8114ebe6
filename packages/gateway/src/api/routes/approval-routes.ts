/** Pending approvals. */

import { type ApprovalRequest, type Runtime, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { redactTexts } from '../../http/redact.js';
import { readJson } from '../../http/validate.js';
import { mayApprove } from '../../tokens/token-grant.js';
import { notFound } from '../shapes/not-found.js';
import { APPROVAL } from '../shapes/shapes.js';
import { visibilityOf } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

const ANSWER_BODY = z.strictObject({ answer: z.enum(['once', 'session', 'always', 'deny']) });

export function createApprovalRoutes(
  runtime: Runtime,
  tokens: ApiDependencies['tokens'],
): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/approvals',
      access: 'read',
      summary: 'List calls that are waiting for approval, oldest first',
      response: z.object({ approvals: z.array(APPROVAL) }),
      handle: async (context) => {
        const visibility = visibilityOf(runtime, context);
        const approvals = await visibility.visibleOf(runtime.approvals.pending(), (asked) => asked);
        return redactTexts({ approvals }, runtime);
      },
    },
    {
      method: 'GET',
      path: '/api/approvals/:id',
      access: 'admin',
      summary: 'Get one pending approval in full, including the content that the list truncates',
      response: APPROVAL,
      handle: async (context) => {
        const { id = '' } = context.parameters;
        const asked = await runtime.approvals.whole(id);
        if (asked === undefined || !visibilityOf(runtime, context).canSee(asked)) throw unknownApproval(id);
        return redactTexts(asked, runtime);
      },
    },
    {
      method: 'POST',
      path: '/api/approvals/:id',
      access: 'admin',
      summary:
        'Answer a pending approval with "once", "session", "always" or "deny". A token cannot approve its own calls',
      body: ANSWER_BODY,
      response: z.object({ id: z.string(), answer: ANSWER_BODY.shape.answer }),
      handle: async (context) => {
        const { id = '' } = context.parameters;
        const { answer } = await readJson(context, ANSWER_BODY);
        const asked = runtime.approvals.pending().find((one) => one.id === id);
        if (asked === undefined || !visibilityOf(runtime, context).canSee(asked)) throw unknownApproval(id);
        if (!asked.answers.includes(answer)) throw answerNotOffered(asked, answer);
        if (answer !== 'deny' && !mayApprove(context.identity, asked.callerId, tokens.list()))
          throw cannotApproveOwnCall();
        runtime.approvals.answer(id, answer, context.caller.id);
        return { id, answer };
      },
    },
  ];
}

const unknownApproval = (id: string): TurnbuckleError =>
  notFound(
    `No pending approval has the id "${id}".`,
    'The approval may have been answered or may have expired. List pending approvals with GET /api/approvals, or: turnbuckle approvals',
  );

const answerNotOffered = ({ isCut = false, answers }: ApprovalRequest, answer: string): TurnbuckleError =>
  new TurnbuckleError(
    'ARGUMENTS_INVALID',
    isCut
      ? `Cannot answer "${answer}" because this call is too large to be shown in full.`
      : `Cannot answer "${answer}" because that answer would have no effect on this call.`,
    { hint: `Answer with one of: ${answers.join(', ')}.` },
  );

const cannotApproveOwnCall = (): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    'A token cannot approve its own calls or calls by a related token (its creator, a token that it created, or a token with the same creator).',
    { hint: 'Answer with an unrelated token, or as the owner: turnbuckle approvals' },
  );
