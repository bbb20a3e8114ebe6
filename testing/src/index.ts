// For tests: starts fixture servers and inspects processes. The servers themselves run as programs and are not imported.
export { type AnthropicModel, type AnthropicRequest, startAnthropicModel } from './anthropic-model.js';
export { collectGarbage } from './collect-garbage.js';
export type { FixtureName, RunningFixture, StartFixtureOptions } from './fixture.js';
export { fixture, readPids, startFixture } from './fixture.js';
export { freePort } from './free-port.js';
export { FuzzMessages } from './fuzz/fuzz-messages.js';
export { type ApiExample, canRunApiExamples, readApiExamples } from './guides/api-examples.js';
export { Shell } from './guides/shell.js';
export { ISSUED_SECRETS } from './issued-secrets.js';
export {
  type McpRegistry,
  type McpRegistryOptions,
  type RegistryFault,
  startMcpRegistry,
} from './mcp-registry/mcp-registry.js';
export { REGISTRY_RECORDS, type RegistryEntry, registryEntry } from './mcp-registry/registry-records.js';
export { movableClock } from './movable-clock.js';
export { type RegistryPackage, type RunningNpmRegistry, startNpmRegistry } from './npm-registry.js';
export { type CollectedSpan, OtlpCollector } from './otlp-collector.js';
export { descendants, isAlive, processesWithEnvironment } from './processes.js';
export { createRandom } from './seeded-random.js';
export type { TemporaryDirectory } from './temporary-directory.js';
export { temporaryDirectory } from './temporary-directory.js';
export { rounds, sampled, timeBound } from './time-bound.js';
export { EVERY_CONTENT } from './tools/content-tool.js';
export type { Direction, Toxic } from './toxic.js';
export type { ToxicProxyOptions } from './toxic-proxy.js';
export { ToxicProxy } from './toxic-proxy.js';
export { waitUntil } from './wait-until.js';
