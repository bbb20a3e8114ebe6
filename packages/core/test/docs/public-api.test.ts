import * as turnbuckle from 'turnbuckle';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './repository.js';

const PUBLIC = 'packages/core/src/index.ts';
const HOST = 'packages/core/src/host/index.ts';
const LIGHT = 'packages/core/src/host/light.ts';

const VALUES = [
  'TurnbuckleError',
  'createConfiguredRuntime',
  'createRuntime',
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
];

const TYPES = [
  'ApprovalAnswer',
  'ApprovalRequest',
  'Approve',
  'CallOptions',
  'CallRequest',
  'Caller',
  'CatalogTool',
  'ConfiguredOptions',
  'ConfiguredRuntime',
  'Decision',
  'ErrorCode',
  'Execution',
  'NativeTool',
  'Progress',
  'Rule',
  'Runtime',
  'RuntimeEvents',
  'RuntimeOptions',
  'ServerInput',
  'ServerRequestAnswers',
  'ServerStatus',
  'SignInPrompts',
];

/** The exports of a module, values and types separately. */
function exportedNames(path: string): { values: string[]; types: string[] } {
  const source = ts.createSourceFile(path, readText(path), ts.ScriptTarget.Latest);
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
    expect(exportedNames(PUBLIC).values.sort()).toEqual(VALUES);
  });

  it('are few enough to learn', () => {
    expect(VALUES.length + TYPES.length).toBeLessThanOrEqual(35);
  });

  it('are these types', () => {
    expect(exportedNames(PUBLIC).types.sort()).toEqual(TYPES);
  });

  it.each([...VALUES, ...TYPES])('are explained: %s', (name) => {
    const pages = ['README.md', 'packages/core/README.md', ...listFiles('docs', /\.md$/)];
    const mentions = pages.filter((page) => new RegExp(`\\b${name}\\b`).test(readText(page)));
    expect(mentions).not.toEqual([]);
  });
});

describe.each([HOST, LIGHT])('the names for hosts in %s', (file) => {
  const { values, types } = exportedNames(file);
  const packages = ['store', 'gateway', 'steward', 'agent', 'cli'].map((name) => `packages/${name}`);
  const hosts = [...packages, 'testing', 'e2e', 'bench'].flatMap((directory) =>
    listFiles(directory, /\.(ts|mjs)$/),
  );
  const texts = [...hosts, ...listFiles('packages/core/test', /\.ts$/)].map(readText);

  it.each([...values, ...types])('are used: %s', (name) => {
    expect(texts.some((text) => new RegExp(`\\b${name}\\b`).test(text))).toBe(true);
  });

  it('are exported only once', () => {
    expect([...values, ...types].filter((name) => [...VALUES, ...TYPES].includes(name))).toEqual([]);
  });
});
