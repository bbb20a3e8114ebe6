/** The steward: finds, installs, tests and manages servers in the background. */

export type { AgentLink } from './daemon/agent-link.js';
export { createStewardPart, type StewardPartOptions } from './daemon/part.js';
export { STEWARD_CAPABILITY } from './daemon/tools.js';
export type { InputField } from './install/entry-template.js';
export type { TestReport } from './quarantine/report.js';
export type { InstallApproval } from './queue/install-approvals.js';
export { RequestQueue } from './queue/queue.js';
export type { StewardMode } from './queue/settings-table.js';
export { openStewardDatabase } from './queue/steps.js';
export { configuredSources } from './registry/configured-sources.js';
export { createRegistry, type SourceStatus } from './registry/registry.js';
export { registryFetchOptions } from './registry/registry-source.js';
export { isServerName } from './registry/server-record.js';
export { PRIORITIES, parseRequest, type RequestKind, type StewardRequest } from './requests/request.js';
export type { RequestState, RequestStatus } from './requests/request-status.js';
export type { ApprovalSubject } from './work/ask.js';
export { type ShownCandidate, toShownCandidate } from './work/candidates.js';
export { checkRequest } from './work/check-change.js';
