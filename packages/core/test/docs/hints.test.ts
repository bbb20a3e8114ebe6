/** An error says what to do next: each one that the sources create has a hint. */
import ts from 'typescript';
import { expect, it } from 'vitest';
import { listFiles, readText } from './repository.js';

/** Nothing is left to do, or only the server can say what. */
const WITHOUT_HINT: Readonly<Record<string, string>> = {
  CALL_CANCELLED: 'the caller wanted it',
  CALL_DENIED: 'an agent is not told how to change the rules',
  CONNECTION_LOST: 'Turnbuckle reconnects',
  RUNTIME_CLOSED: 'the host wanted it',
  SERVER_ERROR: 'the message is the one of the server',
};
/** Its error is replaced by one with a hint. */
const REPLACED = 'packages/core/src/connection/protocol/message-reader.ts: RESPONSE_TOO_LARGE';

function errorsWithoutHint(file: string): string[] {
  const source = ts.createSourceFile(file, readText(file), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText() === 'TurnbuckleError') {
      const [code, , options] = node.arguments ?? [];
      const isKnown = options === undefined || ts.isObjectLiteralExpression(options);
      if (
        code !== undefined &&
        ts.isStringLiteral(code) &&
        isKnown &&
        !/\bhint\b/.test(options?.getText() ?? '')
      )
        found.push(code.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.filter((code) => !(code in WITHOUT_HINT)).map((code) => `${file}: ${code}`);
}

it('every error has a hint, except where there is nothing to do', () => {
  const files = listFiles('packages', /\.ts$/).filter((file) => file.includes('/src/'));
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap(errorsWithoutHint)).toEqual([REPLACED]);
});

/** Expressions whose values are words of this program, or are quoted where they are made. */
const SAFE_WORDS = new Set([
  'word',
  'words',
  'who',
  'where',
  'what',
  'close',
  'meant',
  'index',
  'client.id',
  'context.command.arguments',
  'here[0]?.client.id',
]);
/** Where the value was checked before. */
const CHECKED_BEFORE: Readonly<Record<string, string>> = {
  'packages/cli/src/commands/token.ts: name':
    'the name of a token that was created, in a narrow set of characters',
  'packages/cli/src/daemon/call-approvals.ts: showLine(shellQuote(id))':
    'quoted, then escaped for the terminal',
  'packages/core/src/approvals/approvals.ts: id': 'created by randomUUID',
  'packages/gateway/src/mcp/protocol/approval-notices.ts: id': 'created by randomUUID',
  'packages/gateway/src/incidents/next-step.ts: server': 'quoted by nextStep',
};

/** `turnbuckle trust ${name}` in a message is pasted into a shell: a name may be `x; rm -rf ~`. */
function unquotedWords(file: string): string[] {
  const commands = readText(file).matchAll(/turnbuckle (?:[a-z-]+ )+\$\{([^}]*)\}/g);
  return [...commands]
    .map(([, expression = '']) => expression)
    .filter((expression) => !/^(shellQuote|nearestWord)\(/.test(expression) && !SAFE_WORDS.has(expression))
    .map((expression) => `${file}: ${expression}`);
}

it('every word of a suggested command is quoted for a shell', () => {
  const files = listFiles('packages', /\.ts$/).filter((file) => file.includes('/src/'));
  const found = new Set(files.flatMap(unquotedWords));
  expect([...found].sort()).toEqual(Object.keys(CHECKED_BEFORE).sort());
});
