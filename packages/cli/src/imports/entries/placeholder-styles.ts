/** How each family of clients spells a placeholder. */
import {
  escapeText,
  isVariableName,
  mergeLiterals,
  type PlaceholderStyle,
  patternStyle,
  plainText,
  type Segment,
  TURNBUCKLE_STYLE,
} from './placeholders.js';

const variable = (name: string, fallback?: string): Segment => withFallback({ kind: 'env', name }, fallback);

function withFallback(
  segment: { kind: 'env' | 'input' | 'secret'; name: string },
  fallback: string | undefined,
): Segment {
  // A default of another client is a text: what looks like one of our placeholders in it is none.
  return fallback === undefined ? segment : { ...segment, fallback: escapeText(fallback) };
}

/** A client that does not replace placeholders. */
export const NO_PLACEHOLDERS: PlaceholderStyle = {
  parse: (text) => [{ kind: 'literal', text }],
  print: (segment) => (segment.kind === 'literal' ? segment.text : undefined),
};

function printShell(segment: Segment): string | undefined {
  if (segment.kind !== 'env') return undefined;
  if (segment.fallback === undefined) return `\${${segment.name}}`;
  const fallback = plainText(segment.fallback);
  return fallback === undefined ? undefined : `\${${segment.name}:-${fallback}}`;
}

/** `${VAR}` and `${VAR:-default}`. */
export const SHELL_STYLE = patternStyle(
  /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
  ([, name = '', fallback]) => variable(name, fallback),
  printShell,
);

/** `$VAR`, `${VAR}` and `${VAR:-default}`; a command in `$(…)` belongs to the client. */
export const DOLLAR_STYLE = patternStyle(
  /\$\(([^()]*)\)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g,
  ([whole, command, braced, fallback, bare]) =>
    command === undefined ? variable(braced ?? bare ?? '', fallback) : { kind: 'foreign', text: whole },
  printShell,
);

/** Names that an editor fills in from what it has open. */
const EDITOR_ONLY =
  /^(?:workspaceFolder:.*|workspaceFolderBasename|relativeFile\w*|file\w*|cwd|execPath|lineNumber|columnNumber|selected\w+|pathSeparator|\/|defaultBuildTask|(?:config|command|extensionInstallFolder):.*)$/;

/** `${env:VAR}`, the editor's folders when it knows them, and `${input:id}` when it asks. */
export function editorStyle({ folders, inputs }: { folders: boolean; inputs: boolean }): PlaceholderStyle {
  return patternStyle(
    /\$\{([^${}]+)\}/g,
    ([whole, body = '']) => {
      if (body.startsWith('env:')) {
        const name = body.slice(4);
        return isVariableName(name) ? variable(name) : { kind: 'foreign', text: whole };
      }
      if (inputs && body.startsWith('input:')) return { kind: 'input', name: body.slice(6) };
      if (folders && (body === 'workspaceFolder' || body === 'workspaceRoot'))
        return { kind: 'workspaceFolder' };
      if (folders && body === 'userHome') return { kind: 'userHome' };
      return EDITOR_ONLY.test(body) ? { kind: 'foreign', text: whole } : undefined;
    },
    (segment) => {
      if (segment.kind === 'env' && segment.fallback === undefined) return `\${env:${segment.name}}`;
      if (inputs && segment.kind === 'input' && segment.fallback === undefined)
        return `\${input:${segment.name}}`;
      if (folders && (segment.kind === 'workspaceFolder' || segment.kind === 'userHome'))
        return `\${${segment.kind}}`;
      return undefined;
    },
  );
}

/** `{env:VAR}`; the content of a file (`{file:…}`) cannot be referred to elsewhere. */
export const BRACE_STYLE = patternStyle(
  /\{(env|file):([^}]*)\}/g,
  ([whole, kind, name = '']) =>
    kind === 'env' && isVariableName(name) ? variable(name) : { kind: 'foreign', text: whole },
  (segment) =>
    segment.kind === 'env' && segment.fallback === undefined ? `{env:${segment.name}}` : undefined,
);

/** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. */
export const WORKFLOW_STYLE = patternStyle(
  /\$\{\{\s*(secrets|inputs)\.([\w.-]+)\s*\}\}/g,
  ([, kind, name = '']) => ({ kind: kind === 'inputs' ? 'input' : 'secret', name }),
  (segment) => {
    if ((segment.kind !== 'secret' && segment.kind !== 'input') || segment.fallback !== undefined)
      return undefined;
    return /^[\w.-]+$/.test(segment.name) ? `\${{ ${segment.kind}s.${segment.name} }}` : undefined;
  },
);

/** `${env:VAR}` and `${keyring:name}`. */
export const KEYRING_STYLE = patternStyle(
  /\$\{(env|keyring):([^}]+)\}/g,
  ([whole, kind, name = '']) => {
    if (kind === 'keyring') return { kind: 'secret', name };
    return isVariableName(name) ? variable(name) : { kind: 'foreign', text: whole };
  },
  (segment) => {
    if (segment.kind === 'env' && segment.fallback === undefined) return `\${env:${segment.name}}`;
    return segment.kind === 'secret' && segment.fallback === undefined
      ? `\${keyring:${segment.name}}`
      : undefined;
  },
);

/** `${VAR}`, `${VAR:-default}` and `$env:VAR`. */
export const ENV_PREFIX_STYLE = patternStyle(
  /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$env:([A-Za-z_]\w*)/g,
  ([, braced, fallback, bare]) => variable(braced ?? bare ?? '', fallback),
  printShell,
);

/** Whatever looks like a placeholder of anybody but us, for clients that say nothing about it. */
export const ANY_STYLE: PlaceholderStyle = {
  ...patternStyle(
    /\$\{(?:(?:(env|input):)?([^${}:]+)(?::-([^}]*))?)\}|\{env:([A-Za-z_]\w*)\}/g,
    ([whole, kind, name = '', fallback, braced]) => {
      if (braced !== undefined) return variable(braced);
      if (kind === 'input') return withFallback({ kind, name }, fallback);
      if (kind === 'env')
        return isVariableName(name) ? variable(name, fallback) : { kind: 'foreign', text: whole };
      if ((name === 'workspaceFolder' || name === 'userHome') && fallback === undefined)
        return { kind: name };
      return isVariableName(name) ? variable(name, fallback) : undefined;
    },
    (segment) =>
      segment.kind === 'secret' || ('fallback' in segment && plainText(segment.fallback ?? '') === undefined)
        ? undefined
        : TURNBUCKLE_STYLE.print(segment),
  ),
  isUndocumented: true,
};

const bracedVariables = patternStyle(
  /(?<!\$)\{env:([A-Za-z_]\w*)\}/g,
  ([, name = '']) => variable(name),
  () => undefined,
);

/** Our own and `{env:VAR}`, for a file that a person names: it can be a file of ours. */
export const FILE_STYLE: PlaceholderStyle = {
  parse: (text) =>
    mergeLiterals(TURNBUCKLE_STYLE.parse(text)).flatMap((segment) => {
      if (segment.kind === 'literal') return bracedVariables.parse(segment.text);
      return segment.kind === 'foreign' && !segment.text.startsWith('${env:')
        ? [{ kind: 'literal', text: segment.text }]
        : [segment];
    }),
  print: (segment) => TURNBUCKLE_STYLE.print(segment),
  isUndocumented: true,
};
