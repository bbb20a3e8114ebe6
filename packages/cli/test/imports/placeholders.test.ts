// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as styles from '../../src/imports/entries/placeholder-styles.js';
import {
  type PlaceholderStyle,
  TURNBUCKLE_STYLE,
  translate,
} from '../../src/imports/entries/placeholders.js';

const editor = styles.editorStyle({ folders: true, inputs: true });
const windsurf = styles.editorStyle({ folders: false, inputs: false });

describe('translated into our own syntax', () => {
  it.each<[string, PlaceholderStyle, string, string]>([
    ['Claude Code', styles.SHELL_STYLE, 'a ${A} ${B:-c d}', 'a ${A} ${B:-c d}'],
    ['a variable called like a folder', styles.SHELL_STYLE, '${workspaceFolder}', '${env:workspaceFolder}'],
    ['a variable of the shell', styles.SHELL_STYLE, '${1:-x} ${A%/}', '$${1:-x} $${A%/}'],
    ['Gemini', styles.DOLLAR_STYLE, '$A-${B}-${C:-d}', '${A}-${B}-${C:-d}'],
    ['an amount', styles.DOLLAR_STYLE, 'costs $5', 'costs $5'],
    [
      'an editor',
      editor,
      '${env:A}${workspaceFolder}${userHome}${input:i}',
      '${A}${workspaceFolder}${userHome}${input:i}',
    ],
    ['an editor without inputs', windsurf, '${env:A} ${input:i}', '${A} $${input:i}'],
    ['opencode', styles.BRACE_STYLE, 'Bearer {env:A}', 'Bearer ${A}'],
    ['Continue', styles.WORKFLOW_STYLE, '${{ secrets.A }} ${{inputs.B}}', '${secret:A} ${input:B}'],
    ['mcpproxy', styles.KEYRING_STYLE, '${env:A} ${keyring:b c}', '${A} ${secret:b c}'],
    ['mcporter', styles.ENV_PREFIX_STYLE, '$env:A ${B}', '${A} ${B}'],
    ['a client without any', styles.NO_PLACEHOLDERS, '${A} $B', '$${A} $B'],
    ['an unknown client', styles.ANY_STYLE, '${A} ${env:B} {env:C} ${input:d}', '${A} ${B} ${C} ${input:d}'],
  ])('%s', (_, style, text, expected) => {
    const translated = translate(text, style, TURNBUCKLE_STYLE);
    expect(translated.text).toBe(expected);
    expect(translated.isLossless).toBe(true);
    expect(translated.foreign).toEqual([]);
  });

  it.each<[PlaceholderStyle, string, string]>([
    [editor, 'x ${file}', '${file}'],
    [editor, '${config:a.b}', '${config:a.b}'],
    [editor, '${env:ProgramFiles(x86)}', '${env:ProgramFiles(x86)}'],
    [styles.BRACE_STYLE, '{file:~/.token}', '{file:~/.token}'],
    [styles.DOLLAR_STYLE, '$(cat token)', '$(cat token)'],
  ])('a placeholder that only the client can resolve is reported: %#', (style, text, foreign) => {
    expect(translate(text, style, TURNBUCKLE_STYLE).foreign).toEqual([foreign]);
  });
});

describe('every style', () => {
  const every = { ...styles, editor, windsurf, OURS: TURNBUCKLE_STYLE };
  const pieces = fc.constantFrom(
    '${',
    '$${',
    '$',
    '{',
    '}',
    ':-',
    'A',
    'env:',
    'input:',
    'secret:',
    'keyring:',
    '{{',
    '}}',
    ' secrets.',
    '(',
    ')',
    'workspaceFolder',
    'userHome',
    ' ',
    '"',
  );
  const text = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
  const all = Object.entries(every).filter(
    (pair): pair is [string, PlaceholderStyle] => typeof pair[1] === 'object',
  );

  it.each(all)('%s either reports a loss, or keeps the meaning in both directions', (_, style) => {
    fc.assert(
      fc.property(text, (original) => {
        const there = translate(original, style, TURNBUCKLE_STYLE);
        if (!there.isLossless || there.foreign.length > 0) return;
        const back = translate(there.text, TURNBUCKLE_STYLE, style);
        if (back.isLossless) expect(translate(back.text, style, TURNBUCKLE_STYLE).text).toBe(there.text);
      }),
      { numRuns: 2_000 },
    );
  });
});
