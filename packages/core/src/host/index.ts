/** For programs that host a runtime for others, as the daemon and the command line do. No promise is made of these names. */
export type { AdaptableTool } from '../adapters/index.js';
export type { PinStatus } from '../approvals/pins.js';
export {
  pinTestedTools,
  type TestedTool,
  toTestedTools,
  unpinTestedTools,
} from '../approvals/tested-tools.js';
export { Cancellation, type CancelSignal, offAbort, onAbort } from '../async/cancel-signal.js';
export { monotonicNow } from '../async/monotonic-now.js';
export { createSerialQueue } from '../async/serial-queue.js';
export { timerDelay } from '../async/timer-delay.js';
export { abortReason, pause, untilAborted } from '../async/until-aborted.js';
export type { SignInPage } from '../auth/sign-in-prompts.js';
export type { SignInRequest, SignInStatus } from '../auth/sign-ins.js';
export type { Permit } from '../calls/authorization/permit.js';
export { MAX_NAME_LENGTH, type RefusedCall } from '../calls/call-request.js';
export { NativeResults } from '../calls/native-results.js';
export type { CatalogItem } from '../catalog/catalog.js';
export { collectText, FLAGS, type Flag, scanDefinition } from '../catalog/flags.js';
export { type MentionableTool, MentionIndex } from '../catalog/mentions.js';
export { toPromptName } from '../catalog/names.js';
export { SchemaChecks } from '../catalog/schemas/schema-checks.js';
export { findLimitFault } from '../catalog/schemas/schema-limits.js';
export { hasOwnSignIn } from '../config/credentials.js';
export { editConfig, editServers, type ServerEdit } from '../config/edit/config-editor.js';
export { setKey, setServer } from '../config/edit/edit-servers.js';
export { checkEntry, checkPartOfEntry } from '../config/layers/check-entry.js';
export type { ConfiguredServer, LoadedConfig } from '../config/layers/loaded-config.js';
export { interpolate } from '../config/placeholders/interpolate.js';
export { readSecret, secretKey } from '../config/placeholders/secrets.js';
export { findRelativePaths } from '../config/relative-paths.js';
export {
  ACCESS,
  ACCESS_SCHEMA,
  replacementForAccess,
  type TokenAccess,
} from '../config/schema/access-schema.js';
export type { AgentSettings } from '../config/schema/agent-schema.js';
export { type DaemonSettings, LOG_LEVELS, type LogLevel } from '../config/schema/daemon-schema.js';
export { jsonSchema } from '../config/schema/json-schema.js';
export type { ModelSettings } from '../config/schema/model-schema.js';
export type { PlacedRule } from '../config/schema/rule-schema.js';
export { toSandboxPolicy } from '../config/schema/sandbox-schema.js';
export type { ServersInput } from '../config/schema/schema.js';
export { ALLOW_RULE_SCHEMA, type StewardSettings } from '../config/schema/steward-schema.js';
export { dangersOf } from '../config/trust/dangers.js';
export type { TrustStore } from '../config/trust/trust.js';
export { childEnvironment } from '../connection/processes/child-environment.js';
export { ProcessTable } from '../connection/processes/process-table.js';
export { MODERN_REVISION, SERVED_REVISIONS } from '../connection/protocol/revisions.js';
export { confineProgram } from '../connection/sandbox/confine-program.js';
export { findProgram } from '../connection/sandbox/program.js';
export { checkSandbox } from '../connection/sandbox/sandbox-support.js';
export type { ClientResponder } from '../connection/server-requests/client-responders.js';
export type { ElicitationRequest } from '../connection/server-requests/host-requests.js';
export { parseRetryAfter } from '../connection/transports/http/http-error.js';
export { scanHeaderParameters } from '../connection/transports/http/mcp-headers.js';
export { ERRORS, SERVER_BUG_HINT, toTurnbuckleError } from '../errors.js';
export { GrowingBuffer } from '../fetching/growing-buffer.js';
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
} from '../fetching/guarded-fetch.js';
export { openBrowser } from '../fetching/open-browser.js';
export { withFileLock } from '../files/file-lock.js';
export { homeDirectory } from '../files/home-directory.js';
export { claimLock, HeldLock, type LockRecord } from '../files/lock-record.js';
export { makeDirectory } from '../files/make-directory.js';
export { fileStampSync, readPrivateFileSync, replacePrivateFile } from '../files/private-file.js';
export { isSameProcess, readProcessStat } from '../files/process-identity.js';
export { readFileText, whyUnreadable } from '../files/read-file.js';
export { defaultStateDirectory, packageRootOf } from '../files/state-directory.js';
export { estimateJsonMemory } from '../json/estimate-memory.js';
export { writeTransformed } from '../json/exact-number.js';
export { isRecord } from '../json/is-record.js';
export {
  copyRawNumbers,
  copyRawNumbersDeep,
  exactInteger,
  parseLossless,
  parseLosslessInSlices,
  withRawText,
  writeJson,
} from '../json/lossless-json.js';
export { parseJson } from '../json/parse-json.js';
export { parseLarge } from '../json/parse-large.js';
export { inSlices, LARGE_TEXT_LENGTH, mapSteps, runToEnd, type Steps } from '../json/slices.js';
export { truncateValue } from '../json/truncate-value.js';
export { firstKeys, wideMemberCount } from '../json/wide-objects.js';
export { writeInSlices } from '../json/write-large.js';
export { callerKey, identityOf, isWithinLimits, possibleMeanings } from '../policy/capabilities.js';
export { foldKey } from '../policy/similar-keys.js';
export { redactConfig } from '../redaction/redact-config.js';
export { redactShapes } from '../redaction/redact-shapes.js';
export { createRedactor, type Redactor } from '../redaction/redactor.js';
export { findSecretShape } from '../redaction/secret-shapes.js';
export { writtenSecretsOf } from '../redaction/secret-values.js';
export { backoffDelay } from '../resilience/backoff.js';
export { CallClock } from '../resilience/call-clock.js';
export { loadConfiguration, type Reload } from '../runtime/configured.js';
export { preload } from '../runtime/preload.js';
export {
  type Attributes,
  type ClientTelemetry,
  DURATION_BOUNDS,
  DURATIONS,
  type ObservedRequest,
  type RequestEnd,
  type RequestSpan,
} from '../telemetry/client-telemetry.js';
export {
  attributeText,
  methodName,
  operationAttributes,
  type RequestTarget,
  targetOf,
} from '../telemetry/request-attributes.js';
export {
  parseTraceparent,
  type RemoteSpan,
  readBaggage,
  readTraceMeta,
  readTracestate,
  type TraceMeta,
} from '../telemetry/trace-meta.js';
export { compileGlob, escapeGlob } from '../text/glob.js';
export { escapeHidden, findHidden, showLine, showText } from '../text/hidden-text.js';
export { findInstruction } from '../text/instructions.js';
export { distanceBelow } from '../text/nearest.js';
export { createVault, type Vault } from '../vault/vault.js';
