/**
 * Slow tests: they start many programs, read megabytes in pieces, or wait for times that cannot be shortened.
 * `npm test` excludes them; `npm run test:all` and the runs on other versions of Node include them.
 */
export const LONG_SUITES: readonly string[] = [
  'packages/core/test/hostile/{deaf-servers,endless-floods,event-lines,floods,kept-events,large-handshakes}.test.ts',
  'packages/core/test/hostile/{large-messages,no-json,piecemeal,sizes,unasked-early}.test.ts',
  'packages/core/test/redaction/{find-secrets,redact-properties,redact-slices}.test.ts',
  'packages/core/test/fetching/properties.test.ts',
  'packages/core/test/auth/{hostile-metadata,race,shared-accounts}.test.ts',
  'packages/core/test/auth/vault/vault-crash.test.ts',
  'packages/core/test/config-edit/{crash,properties}.test.ts',
  'packages/core/test/json/estimate-memory.test.ts',
  'packages/core/test/lifecycle/{lost-answers,reopening,starting-many}.test.ts',
  'packages/core/test/catalog/links.test.ts',
  'packages/core/test/contract/in-process.test.ts',
  'packages/gateway/test/bridge/held-answers.test.ts',
  'packages/gateway/test/daemon/{large-inputs,large-lists,revoked-meanwhile,weighed-requests}.test.ts',
  'packages/gateway/test/mcp/{era-matrix,naive-loops,unread-lists,waiting-approvals}.test.ts',
  'packages/gateway/test/instance/instance.test.ts',
  'packages/gateway/test/threats/listed-items.test.ts',
  'packages/cli/test/{agent-credentials,login}.test.ts',
  'packages/cli/test/commands/{import-own,secrets-canary,trust}.test.ts',
  'packages/cli/test/agent/from-purpose-to-answer.test.ts',
  'packages/cli/test/daemon/{attach,hostile-daemon,many-servers,setup}.test.ts',
  'packages/cli/test/docs/help-examples.test.ts',
  'packages/cli/test/imports/{malformed,round-trip}.test.ts',
  'packages/cli/test/terminal/hostile-text.test.ts',
  'packages/cli/test/steward/add.test.ts',
  'packages/steward/test/daemon/{killed,killed-daemon,hostile,model,responsive}.test.ts',
  'packages/steward/test/work/{leftovers,modify,secrets,shared-package,test-request}.test.ts',
  'packages/agent/test/daemon/kill.test.ts',
];
