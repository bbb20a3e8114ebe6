/** Puts servers of ours into a client's file; what the edit does not name stays as it is. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from './client.js';
import { clientById } from './clients.js';
import type { ImportedInput, OutgoingServer, SkippedServer } from './entries/imported-server.js';
import { TURNBUCKLE_STYLE } from './entries/placeholders.js';
import { ownedKeys, writeEntry } from './entries/write-entry.js';
import { editJson } from './formats/edit-json.js';
import { editToml } from './formats/edit-toml.js';
import { editYaml } from './formats/edit-yaml.js';
import { editedValue, type FileEdit, type ServerEdit } from './formats/file-edit.js';
import { parseText, withoutByteOrderMark } from './formats/parse-text.js';
import { isEntry, ownValueAt } from './formats/plain-value.js';
import { generic } from './generic-client.js';
import { formatOf, nameProblem } from './read-client-config.js';

export interface WriteTarget {
  readonly client: string;
  readonly file?: string;
  /** Writes them for this folder only, where the client has such a place. */
  readonly project?: string;
  /** What `${input:id}` asks for. */
  readonly inputs?: readonly ImportedInput[];
}

export interface WriteResult {
  /** The file's new text; absent when it cannot be edited without harm. */
  readonly text?: string;
  readonly notes: readonly { readonly name: string; readonly note: string }[];
  readonly skipped: readonly SkippedServer[];
  readonly problems: readonly string[];
}

/** Never throws. `text` undefined or empty starts a file. The caller keeps the old text if it wants to undo. */
export function writeClientConfig(
  to: string | WriteTarget,
  text: string | undefined,
  servers: readonly OutgoingServer[],
): WriteResult {
  const target = typeof to === 'string' ? { client: to } : to;
  const client = clientById(target.client) ?? (target.client === generic.id ? generic : undefined);
  const refuse = (problem: string): WriteResult => ({ notes: [], skipped: [], problems: [problem] });
  if (client === undefined) return refuse(`unknown client "${target.client}"`);
  const format = formatOf(client, target.file);
  if (format === 'frontmatter') return refuse(`Turnbuckle cannot write servers into ${client.label}`);
  const parsed = parseText(text ?? '', format);
  if ('problem' in parsed) return refuse(parsed.problem);
  if (parsed.value !== undefined && !isEntry(parsed.value))
    return refuse('the file does not contain a map of settings');
  const plan = planEdit(client, parsed.value, { servers, ...target });
  if (plan.edit.servers.length === 0) return { text: text ?? '', ...plan.report, problems: [] };
  const wrong = containerProblem(parsed.value, plan.edit);
  if (wrong !== undefined) return { ...plan.report, problems: [wrong] };
  try {
    return { ...plan.report, ...applyEdit(text ?? '', { value: parsed.value, format, edit: plan.edit }) };
  } catch {
    return { ...plan.report, problems: ['the file cannot be edited safely'] };
  }
}

interface Plan {
  readonly edit: FileEdit;
  readonly report: Pick<WriteResult, 'notes' | 'skipped'>;
}

function planEdit(
  client: Client,
  root: unknown,
  { servers, project, inputs = [] }: WriteTarget & { servers: readonly OutgoingServer[] },
): Plan {
  const dialect = client.dialectOf?.(root) ?? client.dialect;
  const context = { dialect, label: client.label, switchedElsewhere: client.hasSwitchesInSettings === true };
  const written: ServerEdit[] = [];
  const notes: { name: string; note: string }[] = [];
  const skipped: SkippedServer[] = [];
  const settingsOf: { name: string; enabled: boolean; inputs: string[] }[] = [];
  for (const { name, config } of new Map(servers.map((server) => [server.name, server])).values()) {
    const plain: Readonly<Record<string, unknown>> = { ...config };
    const fault = nameProblem(name);
    const outcome = fault === undefined ? writeEntry(plain, context) : { reason: fault };
    if ('reason' in outcome) {
      skipped.push({ name, reason: outcome.reason });
      continue;
    }
    written.push({ name, entry: outcome.entry, owned: ownedKeys(dialect, plain) });
    notes.push(...[...new Set(outcome.notes)].map((note) => ({ name, note })));
    settingsOf.push({ name, enabled: plain.enabled !== false, inputs: inputsIn(plain) });
  }
  return {
    edit: {
      container:
        project === undefined ? dialect.container : (client.projectContainer?.(project) ?? dialect.container),
      list: dialect.list === true,
      named: dialect.list === true || dialect.named === true,
      servers: written,
      settings: client.settings?.(root, { servers: settingsOf, inputs }) ?? [],
    },
    report: { notes, skipped },
  };
}

function applyEdit(
  text: string,
  { value, format, edit }: { value: unknown; format: 'json' | 'toml' | 'yaml'; edit: FileEdit },
): Pick<WriteResult, 'text' | 'problems'> {
  const body = withoutByteOrderMark(text);
  const toml = format === 'toml' ? editToml(body, edit) : undefined;
  const result =
    toml?.text ?? (format === 'yaml' ? editYaml(body, value, edit) : editJson(body, value, edit));
  const again = parseText(result, format);
  // Nothing may be lost or changed beside what was asked for, whatever the editing libraries did.
  if ('problem' in again || !isDeepStrictEqual(again.value, editedValue(value, edit)))
    return { problems: ['the file cannot be edited safely'] };
  return {
    text: text === body ? result : `\uFEFF${result}`,
    problems:
      toml?.areCommentsKept === false
        ? ['comments in the file are lost because the servers are not in TOML tables']
        : [],
  };
}

function containerProblem(root: unknown, { container, list }: FileEdit): string | undefined {
  const found = ownValueAt(root, container) ?? undefined;
  if (found === undefined || (list ? Array.isArray(found) : isEntry(found))) return undefined;
  return `"${container.join('.')}" in the file is not a ${list ? 'list' : 'map'}`;
}

function inputsIn(value: unknown): string[] {
  if (typeof value === 'string')
    return TURNBUCKLE_STYLE.parse(value).flatMap((segment) =>
      segment.kind === 'input' ? [segment.name] : [],
    );
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(inputsIn) : [];
}
