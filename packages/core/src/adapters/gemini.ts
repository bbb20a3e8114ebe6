import { type AdaptableTool, toolText } from './adaptable-tool.js';
import { toText } from './json.js';
import { isImage, isPdf, type MediaPart, type ResultPart, toParts, toPlainText } from './result-parts.js';
import { GEMINI_PARAMETERS, toolNamer } from './safe-names.js';
import { ANY, join, type Shape, type ShapeKind, sketch, splitKeywords } from './shape.js';
import { renameParameters, toJsonSchema } from './to-json-schema.js';
import { toRootShape } from './to-shape.js';

export interface GeminiFunctionDeclaration {
  name: string;
  description: string;
  parameters?: Record<string, unknown>;
  parametersJsonSchema?: Record<string, unknown>;
}
export interface GeminiTool {
  functionDeclarations: GeminiFunctionDeclaration[];
}

/** The `tools` of a Gemini request, in its OpenAPI subset (default) or as JSON Schema; empty for no tools. */
export function toGeminiTools(
  tools: readonly AdaptableTool[],
  { dialect = 'openapi' }: { readonly dialect?: 'openapi' | 'json-schema' } = {},
): GeminiTool[] {
  if (tools.length === 0) return [];
  const nameOf = toolNamer(tools);
  const functionDeclarations = tools.map((tool): GeminiFunctionDeclaration => {
    const root = renameParameters(toRootShape(tool.inputSchema).shape, GEMINI_PARAMETERS);
    const openapi = dialect === 'openapi';
    const { description, ...schema } = openapi ? toOpenApi(root) : toJsonSchema(root, keptInJsonSchema);
    return {
      name: nameOf(tool.name),
      description: join(toolText(tool), String(description ?? '')),
      // An object without properties is rejected, and omitting it means the same.
      ...(root.properties.size > 0 && (openapi ? { parameters: schema } : { parametersJsonSchema: schema })),
    };
  });
  return [{ functionDeclarations }];
}

const COUNT_KEYWORDS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];

function keptInJsonSchema(keyword: string, value: unknown): boolean {
  if (keyword === 'enum') {
    return (
      Array.isArray(value) && value.every((entry) => typeof entry === 'string' || typeof entry === 'number')
    );
  }
  return ['format', 'minItems', 'maxItems', 'minimum', 'maximum'].includes(keyword);
}

const FORMATS: Readonly<Record<string, readonly unknown[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

function keptInOpenApi(keyword: string, value: unknown, kind: ShapeKind): boolean {
  if (keyword === 'format') return Object.hasOwn(FORMATS, kind) && FORMATS[kind]?.includes(value) === true;
  // Only strings can be enumerated, and none may be empty.
  if (keyword === 'enum') return kind === 'string' && Array.isArray(value) && !value.includes('');
  return [...COUNT_KEYWORDS, 'pattern', 'minimum', 'maximum'].includes(keyword);
}

const ANY_TYPE_OPTIONS: readonly Shape[] = [
  { ...ANY, kind: 'string' },
  { ...ANY, kind: 'number' },
  { ...ANY, kind: 'boolean' },
  { ...ANY, kind: 'object' },
  { ...ANY, kind: 'array', items: { ...ANY, kind: 'string' } },
];

function toOpenApi(shape: Shape): Record<string, unknown> {
  if (shape.kind === 'any')
    return toOpenApi({ ...shape, kind: 'union', nullable: true, options: ANY_TYPE_OPTIONS });
  if (shape.kind === 'union') return unionToOpenApi(shape);
  const { rest } = shape;
  const open = rest && rest.kind !== 'never' && rest.kind !== 'any';
  const limits = { ...shape.limits, ...(open && { additionalProperties: sketch(rest) }) };
  const { kept, text } = splitKeywords({ ...shape, limits }, keptInOpenApi);
  const properties = [...shape.properties].map(([key, value]) => [key, toOpenApi(value)]);
  return {
    type: shape.kind.toUpperCase(),
    ...(shape.nullable && { nullable: true }),
    ...(text && { description: text }),
    // 64-bit integers are strings in the JSON form of a protobuf message.
    ...Object.fromEntries(
      Object.entries(kept).map(([key, value]) => [key, COUNT_KEYWORDS.includes(key) ? String(value) : value]),
    ),
    ...('enum' in kept && { format: 'enum' }),
    ...(shape.items && { items: toOpenApi(shape.items) }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(shape.required.length > 0 && { required: [...shape.required] }),
  };
}

// Next to anyOf no other field may be set, so the union's description moves into its first option.
function unionToOpenApi(shape: Shape): Record<string, unknown> {
  const { text } = splitKeywords(shape, () => false);
  const anyOf = shape.options.map((option, index) => {
    if (index > 0) return toOpenApi(option);
    const nullable = option.nullable || shape.nullable;
    return toOpenApi({ ...option, nullable, description: join(text, option.description) });
  });
  return { anyOf };
}

/** A functionResponse part; images and PDFs are attached as `parts`, which Gemini 3 and later support. */
export function toGeminiFunctionResponse(
  call: { readonly id?: string | undefined; readonly name: string },
  result: unknown,
) {
  const { failed, parts, structured } = toParts(result);
  const sent = failed ? [] : parts.filter(isSendable);
  const shown = failed ? parts : parts.filter((part) => !isSendable(part));
  const text = toPlainText({ failed: false, parts: shown });
  // Gemini interprets a `$ref` in a response as a reference to one of its parts and rejects it (vercel/ai#14369).
  const whole = structured && shown.length === 1 && !toText(structured).includes('"$ref"');
  return {
    functionResponse: {
      ...(call.id !== undefined && { id: call.id }),
      name: call.name,
      response: failed ? { error: text } : { output: whole ? structured : text },
      ...(sent.length > 0 && {
        parts: sent.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })),
      }),
    },
  };
}

function isSendable(part: ResultPart): part is MediaPart {
  return isImage(part) || isPdf(part);
}
