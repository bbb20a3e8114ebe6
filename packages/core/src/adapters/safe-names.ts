import type { AdaptableTool } from './adaptable-tool.js';

/** Which names an API accepts, and the characters it rejects. */
export interface NameRule {
  readonly valid: RegExp;
  readonly illegal: RegExp;
}

/** Keys of `input_schema.properties`; one invalid key makes Anthropic reject the whole request. */
export const ANTHROPIC_PARAMETERS: NameRule = { valid: /^[\w.-]{1,64}$/, illegal: /[^\w.-]/g };

/** Parameter names as documented for Gemini's FunctionDeclaration. */
export const GEMINI_PARAMETERS: NameRule = { valid: /^[A-Za-z_]\w{0,63}$/, illegal: /\W/g };

// OpenAI and Anthropic accept 64 of these characters; Gemini requires a letter or underscore first.
const TOOL_NAMES: NameRule = { valid: /^[A-Za-z_][\w-]{0,63}$/, illegal: /[^\w-]/g };

/** Makes tool names valid for every API; valid names, such as the catalog's, are unchanged. */
export function toolNamer(tools: readonly AdaptableTool[]): (name: string) => string {
  return namer(
    tools.map(({ name }) => name),
    TOOL_NAMES,
  );
}

/** Gives each name a valid and unique form; the same list gives the same names. */
export function namer(names: Iterable<string>, rule: NameRule): (name: string) => string {
  const all = [...names];
  const safe = new Map(all.filter((name) => rule.valid.test(name)).map((name) => [name, name]));
  const taken = new Set(safe.keys());
  for (const name of all) {
    if (safe.has(name)) continue;
    let candidate = name.replace(rule.illegal, '_').slice(0, 64);
    if (!rule.valid.test(candidate)) candidate = `_${candidate}`.slice(0, 64);
    const stem = candidate.slice(0, 56);
    for (let round = 0; taken.has(candidate); round++) candidate = `${stem}_${hash(`${name}${round}`)}`;
    taken.add(candidate);
    safe.set(name, candidate);
  }
  return (name) => safe.get(name) ?? name;
}

// FNV-1a: short, stable, and free of Node built-ins.
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value.toString(36);
}
