/**
 * Tests that take long: many programs that are started, megabytes that are read in pieces, waits that cannot be shortened.
 * `npm test` leaves them out; `npm run test:all` and the runs on other versions of Node have them.
 */
export const LONG_SUITES: readonly string[] = [
  'packages/core/test/hostile/{endless-floods,event-lines,floods,large-handshakes,large-messages,no-json,piecemeal,sizes}.test.ts',
  'packages/core/test/auth/race.test.ts',
  'packages/core/test/auth/vault/vault-crash.test.ts',
  'packages/core/test/config-edit/crash.test.ts',
  'packages/core/test/lifecycle/{lost-answers,reopening,starting-many}.test.ts',
  'packages/gateway/test/bridge/held-answers.test.ts',
  'packages/gateway/test/daemon/{large-inputs,large-lists,revoked-meanwhile,weighed-requests}.test.ts',
  'packages/gateway/test/mcp/naive-loops.test.ts',
  'packages/cli/test/commands/secrets-canary.test.ts',
  'packages/cli/test/daemon/{hostile-daemon,many-servers,setup}.test.ts',
  'packages/cli/test/terminal/hostile-text.test.ts',
];
