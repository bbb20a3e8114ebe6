import * as turnbuckle from 'turnbuckle';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './repository.js';

const VALUES = [
  'Cancellation',
  'ERRORS',
  'FLAGS',
  'GrowingBuffer',
  'MAX_NAME',
  'TurnbuckleError',
  'callerKey',
  'checkSandbox',
  'createConfiguredRuntime',
  'createGuardedFetch',
  'createRedactor',
  'createRuntime',
  'createVault',
  'dangersOf',
  'defaultStateDirectory',
  'editConfig',
  'editServers',
  'escapeHidden',
  'exactInteger',
  'findHidden',
  'firstKeys',
  'homeDirectory',
  'identityOf',
  'inSlices',
  'jsonSchema',
  'keepSpelling',
  'keepSpellingOfCopy',
  'loadConfiguration',
  'makeDirectory',
  'offAbort',
  'onAbort',
  'openBrowser',
  'parseInSlices',
  'parseStrictly',
  'preload',
  'readFileText',
  'redactConfig',
  'relativeWords',
  'scanHeaderParameters',
  'setKey',
  'setServer',
  'shortened',
  'showLine',
  'showText',
  'spelled',
  'toAiSdkModelOutput',
  'toAiSdkTools',
  'toAnthropicToolResult',
  'toAnthropicTools',
  'toGeminiFunctionResponse',
  'toGeminiTools',
  'toOpenAiFunctionCallOutput',
  'toOpenAiToolMessage',
  'toOpenAiTools',
  'toToolCall',
  'toTurnbuckleError',
  'weighJson',
  'whyUnreadable',
  'wideMembers',
  'writeInSlices',
  'writeJson',
  'writeShown',
];

const TYPES = [
  'AdaptableTool',
  'ApprovalAnswer',
  'ApprovalRequest',
  'Approve',
  'CallOptions',
  'CallRequest',
  'Caller',
  'CancelSignal',
  'CatalogItem',
  'CatalogTool',
  'ConfiguredOptions',
  'ConfiguredRuntime',
  'ConfiguredServer',
  'DaemonSettings',
  'Decision',
  'DecisionRequest',
  'ElicitationRequest',
  'ErrorCode',
  'Execution',
  'Explanation',
  'LoadedConfig',
  'NativeTool',
  'Permit',
  'PinStatus',
  'PlacedRule',
  'Progress',
  'ReadRequest',
  'Redactor',
  'Reload',
  'Respondent',
  'RootsRequest',
  'Rule',
  'Runtime',
  'RuntimeEvents',
  'RuntimeOptions',
  'SamplingRequest',
  'ServerConfig',
  'ServerEdit',
  'ServerInput',
  'ServerRequestAnswers',
  'ServerStatus',
  'ServersInput',
  'SetServersResult',
  'SignInMethod',
  'SignInPage',
  'SignInPrompts',
  'SignInRequest',
  'SignInStatus',
  'Steps',
  'TrustStore',
  'Vault',
];

/** What index.ts exports by name, values and types apart. */
function exportedNames(): { values: string[]; types: string[] } {
  const source = ts.createSourceFile(
    'index.ts',
    readText('packages/core/src/index.ts'),
    ts.ScriptTarget.Latest,
  );
  const names = { values: [] as string[], types: [] as string[] };
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause) throw new Error('No export by name');
    if (!ts.isNamedExports(statement.exportClause)) throw new Error('export * hides what is public');
    for (const { name, isTypeOnly } of statement.exportClause.elements)
      names[isTypeOnly || statement.isTypeOnly ? 'types' : 'values'].push(name.text);
  }
  return names;
}

describe('the public names of turnbuckle', () => {
  it('are these values', () => {
    expect(Object.keys(turnbuckle).sort()).toEqual(VALUES);
    expect(exportedNames().values.sort()).toEqual(VALUES);
  });

  it('are these types', () => {
    expect(exportedNames().types.sort()).toEqual(TYPES);
  });

  it.each([...VALUES, ...TYPES])('are explained: %s', (name) => {
    const pages = ['README.md', 'packages/core/README.md', ...listFiles('docs', /\.md$/)];
    const mentions = pages.filter((page) => new RegExp(`\\b${name}\\b`).test(readText(page)));
    expect(mentions).not.toEqual([]);
  });
});
