/** The plan for a bundle (mcpb): its manifest says what is run, and only its own JavaScript may be. Pure. */
import { join, posix } from 'node:path';
import type { TextTemplate } from '../entry-template.js';
import { packageDirectory } from '../install-directory.js';
import { cannotInstall, type KindOptions, type KindPlan } from '../install-plan.js';
import type { InstallablePackage, RecordInput } from '../installable-record.js';
import { RecordFault } from '../record-inputs.js';
import type { InstallRefusal } from '../refusal.js';
import { MCPB_MANIFEST_SCHEMA, type McpbManifest } from './mcpb-manifest.js';

export function planMcpb(one: InstallablePackage, options: KindOptions): KindPlan | InstallRefusal {
  const { facts, root, programs, sandbox, inputs } = options;
  const { identifier } = one;
  if (one.fileSha256 === undefined)
    return cannotInstall(
      identifier,
      'its registry record has no SHA-256 hash for the file',
      'Report this record to its registry.',
    );
  const parsed = MCPB_MANIFEST_SCHEMA.safeParse(facts?.manifest);
  if (facts === undefined || !parsed.success)
    return cannotInstall(identifier, 'its manifest.json does not describe how to start it');
  const { server, version } = parsed.data;
  if (server.type !== 'node')
    return cannotInstall(
      identifier,
      `its type is ${JSON.stringify(server.type.slice(0, 50))}, and only "node" is supported`,
    );
  const directory = packageDirectory(root, { kind: 'mcpb', identifier, version, integrity: facts.integrity });
  const file = posix.normalize(server.entry_point);
  assertScript(file);
  const [script, ...rest] = argumentsOf(parsed.data);
  if (
    script === undefined ||
    posix.normalize(script.replace('${__dirname}/', '')) !== file ||
    !script.startsWith('${__dirname}/')
  )
    throw new RecordFault('describes a bundle that does not start its own entry point first');
  const texts = new BundleTexts(parsed.data, { directory, inputs });
  const env = inputs.environment(Object.keys(server.mcp_config.env).map((name) => ({ name, value: '' })));
  return {
    version,
    directory,
    file,
    server: {
      type: 'stdio',
      command: programs.node,
      args: [[[join(directory, file)]], ...rest.map((word) => [texts.fill(word)])],
      env: Object.fromEntries(
        Object.keys(env).map((name) => [name, texts.fill(server.mcp_config.env[name] ?? '')]),
      ),
      ...(sandbox && { sandboxRead: [directory] }),
    },
  };
}

function argumentsOf({ server: { mcp_config: config } }: McpbManifest): readonly string[] {
  if (config.command !== 'node')
    throw new RecordFault(
      `describes a bundle that runs ${JSON.stringify(config.command.slice(0, 100))} instead of node`,
    );
  return config.args;
}

function assertScript(file: string): void {
  if (
    posix.isAbsolute(file) ||
    file.split('/').includes('..') ||
    !/^[^\\\p{Cc}-][^\\\p{Cc}]*\.[cm]?js$/u.test(file)
  )
    throw new RecordFault(
      `describes a bundle whose entry point ${JSON.stringify(file.slice(0, 200))} is not one of its JavaScript files`,
    );
}

/** Fills the variables of a bundle; each of its settings becomes one input. */
class BundleTexts {
  readonly #manifest: McpbManifest;
  readonly #place: { readonly directory: string; readonly inputs: KindOptions['inputs'] };
  readonly #inputs = new Map<string, string>();

  constructor(
    manifest: McpbManifest,
    place: { readonly directory: string; readonly inputs: KindOptions['inputs'] },
  ) {
    this.#manifest = manifest;
    this.#place = place;
  }

  fill(text: string): TextTemplate {
    if (/\p{Cc}/u.test(text))
      throw new RecordFault('describes a bundle with control characters in its arguments');
    return text.split(/(\$\{[^}]*\})/).flatMap((piece, at): TextTemplate => {
      if (at % 2 === 0) return piece === '' ? [] : [piece];
      const name = piece.slice(2, -1);
      if (name === '__dirname') return [this.#place.directory];
      if (name === '/' || name === 'pathSeparator') return ['/'];
      return [{ input: this.#setting(name) }];
    });
  }

  #setting(variable: string): string {
    const key = variable.startsWith('user_config.') ? variable.slice('user_config.'.length) : '';
    const known = this.#inputs.get(key);
    if (known !== undefined) return known;
    const setting = Object.hasOwn(this.#manifest.user_config, key)
      ? this.#manifest.user_config[key]
      : undefined;
    if (setting === undefined)
      throw new RecordFault(
        `describes a bundle with the unknown variable ${JSON.stringify(variable.slice(0, 100))}`,
      );
    const preset = setting.default;
    const input: RecordInput = {
      description: setting.description ?? setting.title,
      isRequired: setting.required === true,
      isSecret: setting.sensitive === true,
      ...(preset !== undefined && { default: String(preset) }),
    };
    const name = this.#place.inputs.add(key, input);
    this.#inputs.set(key, name);
    return name;
  }
}
