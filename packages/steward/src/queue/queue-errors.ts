/** Why the queue refuses something. */
import { TurnbuckleError } from 'turnbuckle';

export const unknownRequest = (id: string): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', `The steward has no request with the id "${id}".`, {
    hint: 'The request may have finished long ago. List the requests, and use one of their ids.',
  });

export const idTaken = (id: string): TurnbuckleError =>
  new TurnbuckleError('NAME_TAKEN', `A different request with the id "${id}" exists.`, {
    hint: 'Send the request with a new id, such as a random UUID.',
  });

export const tooManyOpen = (limit: number): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', `The steward has ${limit} open requests, which is the limit.`, {
    hint: 'Wait for some requests to finish, or cancel some.',
  });

export const tooManyOpenOfCaller = (caller: string, limit: number): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    `"${caller}" has ${limit} open requests to the steward, which is its limit.`,
    {
      hint: 'Wait for some requests to finish, or cancel some.',
    },
  );

export const tooManyOpenOfAgents = (limit: number): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    `The steward has ${limit} open requests from agents, which is the limit.`,
    {
      hint: 'Wait for some requests to finish, or cancel some. List the requests: turnbuckle steward list',
    },
  );

export const unknownApproval = (id: string): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', `No install approval has the id "${id}".`, {
    hint: 'The request may have finished. List the pending install approvals.',
  });

export const approvalClosed = (id: string, why: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The install approval "${id}" ${why}.`, {
    hint: 'The answer was not recorded. Send the request again if the server is still needed.',
  });

export const tooManyApprovals = (caller: string, limit: number): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    `Cannot request approval: ${caller === '' ? 'the owner' : `"${caller}"`} has ${limit} open install approvals, which is the limit.`,
    {
      hint: 'Approve or refuse some of them, and send the request again. List pending approvals: turnbuckle steward approvals',
    },
  );
