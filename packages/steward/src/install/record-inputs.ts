/**
 * Turns arguments, variables and headers of a record into templates and inputs. Words stay words: no shell ever sees
 * them. Pure.
 */
import { dangersOf } from 'turnbuckle/host';
import type { InputField, TextTemplate } from './entry-template.js';
import type { NamedInput, RecordArgument, RecordInput } from './installable-record.js';

const MAX_ITEMS = 100;
const MAX_TEXT_LENGTH = 4_096;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;
/** They belong to the connection, not to the record. */
const CONNECTION_HEADERS =
  /^(connection|content-length|content-type|expect|host|keep-alive|mcp-.*|origin|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
/** They configure the tools that start the server, or Turnbuckle itself. */
const TOOL_VARIABLES = /^(npm_|docker_|podman_|container_|uv_|pip_|turnbuckle_)/i;

/** A fault of the record: what is wrong, as the end of a sentence about it. */
export class RecordFault extends Error {}

/** Collects the inputs of one plan. */
export class RecordInputs {
  readonly #server: string;
  readonly #secretScope: string | undefined;
  readonly #fields = new Map<string, InputField>();

  constructor(server: string, secretScope?: string) {
    this.#server = server;
    this.#secretScope = secretScope;
  }

  get fields(): InputField[] {
    return [...this.#fields.values()];
  }

  /** Groups of words for the program. */
  arguments(list: readonly RecordArgument[] = []): TextTemplate[][] {
    assertCount(list.length, 'arguments');
    return list.map((argument, at) => this.#argument(argument, at + 1));
  }

  environment(list: readonly NamedInput[] = []): Record<string, TextTemplate> {
    assertCount(list.length, 'environment variables');
    const entries = list.map((variable): [string, TextTemplate] => {
      assertVariable(variable.name);
      return [variable.name, this.text(variable, variable.name)];
    });
    return Object.fromEntries(entries);
  }

  headers(list: readonly NamedInput[] = []): Record<string, TextTemplate> {
    assertCount(list.length, 'headers');
    const entries = list.map((header): [string, TextTemplate] => {
      const { name } = header;
      if (!HEADER_NAME.test(name) || CONNECTION_HEADERS.test(name))
        throw new RecordFault(`sets the header ${JSON.stringify(name.slice(0, 100))}`);
      return [name, this.text(header, name)];
    });
    return Object.fromEntries(entries);
  }

  /** A fixed text with its variables, or one input. */
  text(input: RecordInput, name: string): TextTemplate {
    if (input.value === undefined) return [{ input: this.add(name, input) }];
    assertText(input.value);
    const { variables = {} } = input;
    const pieces = input.value.split(/(\{[A-Za-z_][A-Za-z0-9_.-]{0,100}\})/);
    return pieces.flatMap((piece, at): TextTemplate => {
      const variable = piece.slice(1, -1);
      // Names in braces that are not declared stay as they are.
      if (at % 2 === 0 || !Object.hasOwn(variables, variable)) return piece === '' ? [] : [piece];
      const declared = variables[variable] ?? {};
      if (declared.value !== undefined) {
        assertText(declared.value);
        return [declared.value];
      }
      return [{ input: this.add(variable, { ...declared, isSecret: declared.isSecret ?? input.isSecret }) }];
    });
  }

  /** The name of the input: made unique and safe for a placeholder. */
  add(wanted: string, input: RecordInput): string {
    assertCount(this.#fields.size, 'inputs');
    const { description, choices, format } = input;
    const safe =
      wanted
        .replace(/^-+/, '')
        .replace(/[^A-Za-z0-9_.-]+/g, '_')
        .slice(0, 100) || 'value';
    let name = safe;
    for (let count = 2; this.#fields.has(name); count += 1) name = `${safe}_${count}`;
    for (const text of [input.default ?? '', ...(choices ?? [])]) assertText(text);
    const isSecret = input.isSecret === true;
    this.#fields.set(name, {
      name,
      isSecret,
      isRequired: input.isRequired === true,
      ...(description !== undefined && { description: description.slice(0, MAX_TEXT_LENGTH) }),
      // A secret that everybody can read is none.
      ...(input.default !== undefined && !isSecret && { default: input.default }),
      ...(choices !== undefined && choices.length > 0 && { choices: choices.slice(0, MAX_ITEMS) }),
      ...(format !== undefined && { format: format.slice(0, 20) }),
      ...(isSecret && { secretName: this.#secretName(name) }),
    });
    return name;
  }

  #secretName(input: string): string {
    const name = `${this.#server}.${input}`;
    return this.#secretScope === undefined ? name : `${name}.${this.#secretScope}`;
  }

  #argument(argument: RecordArgument, number: number): TextTemplate[] {
    const { type, name = '', valueHint, value } = argument;
    if (type === 'positional') return [this.text(argument, valueHint ?? `argument_${number}`)];
    if (!/^-{0,2}[A-Za-z0-9][A-Za-z0-9_.:-]{0,100}$/.test(name))
      throw new RecordFault(`has an argument named ${JSON.stringify(name.slice(0, 100))}`);
    if (value === undefined && isBareFlag(argument)) return [[name]];
    const text = this.text(argument, valueHint ?? name);
    return name.startsWith('--') ? [[`${name}=`, ...text]] : [[name], text];
  }
}

/** Nothing says that it takes a value. */
const isBareFlag = ({
  default: preset,
  valueHint,
  choices,
  isRequired,
  isSecret,
  format,
}: RecordArgument): boolean =>
  [preset, valueHint, choices, format].every((one) => one === undefined) &&
  isRequired !== true &&
  isSecret !== true;

function assertVariable(name: string): void {
  const shown = JSON.stringify(name.slice(0, 100));
  if (!VARIABLE_NAME.test(name)) throw new RecordFault(`has an environment variable named ${shown}`);
  const [danger] = dangersOf({ env: { [name]: '' } });
  if (danger !== undefined || TOOL_VARIABLES.test(name))
    throw new RecordFault(
      `sets the environment variable ${shown}, which changes what programs load, run or trust`,
    );
}

function assertText(text: string): void {
  if (text.length > MAX_TEXT_LENGTH || /\p{Cc}/u.test(text))
    throw new RecordFault('has an argument or variable with control characters, or one that is too long');
}

function assertCount(count: number, what: string): void {
  if (count > MAX_ITEMS) throw new RecordFault(`has more than ${MAX_ITEMS} ${what}`);
}

/** Words that a record adds to `npx`, `uvx` or `docker run` and that change nothing for us. */
const HARMLESS = new Set(['-y', '--yes', '-i', '--interactive', '--rm', 'run']);

/** Options of the program that starts the server are ours alone. */
export function assertNoRuntimeArguments(list: readonly RecordArgument[] = []): void {
  for (const { type, name, value } of list) {
    const word = (type === 'named' ? name : value) ?? '';
    if (HARMLESS.has(word) && (type === 'positional' || value === undefined)) continue;
    throw new RecordFault(
      `adds the option ${JSON.stringify(word.slice(0, 100))} to the program that starts the server`,
    );
  }
}
