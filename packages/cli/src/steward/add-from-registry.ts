/** Adds a server of a registry: asks the steward, shows what it would install, asks the person, and follows it to the end. */
import type { RequestStatus } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { showLine } from '../terminal/untrusted-text.js';
import { answerInstall } from './answer-approval.js';
import { completeValues } from './field-values.js';
import { errorOf, followRequest, untilLeft } from './follow-request.js';
import { asQuestion, asResult, type PendingInstall, showInstallApproval } from './install-approval-lines.js';
import { nextApproval } from './next-approval.js';
import { approveCommand, noteMode, showAdded } from './request-lines.js';
import { requireSteward, throughSteward } from './steward-daemon.js';
import { requestsOfDaemon } from './steward-requests.js';

interface Addition {
  readonly client: DaemonClient;
  readonly id: string;
}

/** Resolves with the exit code. */
export async function addFromRegistry(context: CommandContext, registryName: string): Promise<number> {
  const steward = await requireSteward(
    context,
    `No daemon is running, and only the daemon can install servers from a registry ("${showLine(registryName)}").`,
  );
  const { client, mode } = steward;
  return throughSteward(context, client, async () => {
    const requests = requestsOfDaemon(context, client, mode);
    const params = { registryName };
    const id = await requests.send({ type: 'add_server', params, priority: 'high' });
    noteMode(mode, context.output);
    return untilLeft(context, id, () => followAddition(context, { client, id }));
  });
}

async function followAddition(context: CommandContext, { client, id }: Addition): Promise<number> {
  const requests = requestsOfDaemon(context, client, { paused: false, stopped: false });
  const seen = new Set<string>();
  for (;;) {
    let asked: PendingInstall | undefined;
    const status = await followRequest(context, { requests, id }, async ({ waitingFor }) => {
      if (waitingFor === 'approval') asked = await nextApproval(requests, id, seen);
      return asked !== undefined;
    });
    if (asked === undefined) return finish(context, status);
    if (!context.output.interactive) return leaveOpen(context, asked);
    if (!(await askPerson(context, client, asked))) return refused(context, asked);
  }
}

/** False: the person said no. */
async function askPerson(
  context: CommandContext,
  client: DaemonClient,
  asked: PendingInstall,
): Promise<boolean> {
  const { output } = context;
  showInstallApproval(asked, asQuestion(output));
  const { askYesNo, withCancelText } = await import('../terminal/ask.js');
  const question = asked.subject.action === 'install' ? 'Install exactly this?' : 'Continue?';
  const left = `Nothing happens until you approve the request: ${output.rewriteCommands(approveCommand(asked.id))}`;
  const { isYes, values } = await withCancelText(left, async () => {
    const isYes = await output.ask(() => askYesNo(question));
    const fields = { approval: asked, given: {}, all: true };
    return { isYes, values: isYes ? await completeValues(context, fields) : {} };
  });
  await answerInstall(client, asked.id, isYes ? { answer: 'yes', values } : { answer: 'no' }).catch(
    (error: unknown) => {
      // Answered elsewhere meanwhile: the request goes on with that answer.
      if (!(error instanceof TurnbuckleError) || error.code !== 'PATH_UNKNOWN') throw error;
      output.note('The approval request was answered elsewhere.');
    },
  );
  return isYes;
}

function refused({ output }: CommandContext, { subject }: PendingInstall): number {
  output.note(`You declined: server "${showLine(subject.server, 60)}" was not added.`);
  return ERRORS.CALL_CANCELLED.exit;
}

/** Nobody is there to be asked: how to answer. */
function leaveOpen({ output }: CommandContext, asked: PendingInstall): number {
  if (output.json) output.data({ requestId: asked.requestId, approval: asked });
  else showInstallApproval(asked, asResult(output));
  output.warn(
    `Your approval is required. Approve the request: turnbuckle steward approve ${shellQuote(asked.id)}`,
  );
  return ERRORS.APPROVAL_NEEDED.exit;
}

function finish({ output }: CommandContext, status: RequestStatus): number {
  const error = errorOf(status);
  if (error !== undefined) throw error;
  if (output.json) output.data(status);
  const { serverName, tools } = Object(status.result) as {
    readonly serverName?: unknown;
    readonly tools?: unknown;
  };
  const server = String(serverName);
  if (!output.json) showAdded(server, Array.isArray(tools) ? tools : [], output);
  output.note(output.color.dim(`Try it: turnbuckle tools ${shellQuote(server)}`));
  return 0;
}
