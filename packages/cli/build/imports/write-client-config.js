/** Puts servers of ours into a client's file; what the edit does not name stays as it is. */
import { isDeepStrictEqual } from 'node:util';
import { clientById } from './clients.js';
import { editJson } from './edit-json.js';
import { editToml } from './edit-toml.js';
import { editYaml } from './edit-yaml.js';
import { editedValue } from './file-edit.js';
import { generic } from './generic.js';
import { parseText, withoutByteOrderMark } from './parse-text.js';
import { OURS } from './placeholders.js';
import { isEntry, ownAt } from './plain-value.js';
import { formatOf, nameFault } from './read-client-config.js';
import { ownedKeys, writeEntry } from './write-entry.js';
/** Never throws. `text` undefined or empty starts a file. The caller keeps the old text if it wants to undo. */
export function writeClientConfig(to, text, servers) {
  const target = typeof to === 'string' ? { client: to } : to;
  const client = clientById(target.client) ?? (target.client === generic.id ? generic : undefined);
  const refuse = (problem) => ({ notes: [], skipped: [], problems: [problem] });
  if (client === undefined) return refuse(`there is no client "${target.client}"`);
  const format = formatOf(client, target.file);
  if (format === 'frontmatter') return refuse(`servers in ${client.label} are written by hand`);
  const parsed = parseText(text ?? '', format);
  if ('problem' in parsed) return refuse(parsed.problem);
  if (parsed.value !== undefined && !isEntry(parsed.value))
    return refuse('the file does not hold a map of settings');
  const plan = planEdit(client, parsed.value, { servers, ...target });
  if (plan.edit.servers.length === 0) return { text: text ?? '', ...plan.report, problems: [] };
  const wrong = wrongContainer(parsed.value, plan.edit);
  if (wrong !== undefined) return { ...plan.report, problems: [wrong] };
  try {
    return { ...plan.report, ...edited(text ?? '', { value: parsed.value, format, edit: plan.edit }) };
  } catch {
    return { ...plan.report, problems: ['the file cannot be edited without harm'] };
  }
}
function planEdit(client, root, { servers, project, inputs = [] }) {
  const dialect = client.dialectOf?.(root) ?? client.dialect;
  const context = { dialect, label: client.label, switchedElsewhere: client.switchesInSettings === true };
  const written = [];
  const notes = [];
  const skipped = [];
  const settingsOf = [];
  for (const { name, config } of new Map(servers.map((server) => [server.name, server])).values()) {
    const plain = { ...config };
    const fault = nameFault(name);
    const outcome = fault === undefined ? writeEntry(plain, context) : { reason: fault };
    if ('reason' in outcome) {
      skipped.push({ name, reason: outcome.reason });
      continue;
    }
    written.push({ name, entry: outcome.entry });
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
      owned: ownedKeys(dialect),
      settings: client.settings?.(root, { servers: settingsOf, inputs }) ?? [],
    },
    report: { notes, skipped },
  };
}
function edited(text, { value, format, edit }) {
  const body = withoutByteOrderMark(text);
  const toml = format === 'toml' ? editToml(body, edit) : undefined;
  const result =
    toml?.text ?? (format === 'yaml' ? editYaml(body, value, edit) : editJson(body, value, edit));
  const again = parseText(result, format);
  // Nothing may be lost or changed beside what was asked for, whatever the editing libraries did.
  if ('problem' in again || !isDeepStrictEqual(again.value, editedValue(value, edit)))
    return { problems: ['the file cannot be edited without harm'] };
  return {
    text: text === body ? result : `\uFEFF${result}`,
    problems:
      toml?.kept === false
        ? ['the comments of the file are lost, because its servers are not in tables']
        : [],
  };
}
function wrongContainer(root, { container, list }) {
  const found = ownAt(root, container) ?? undefined;
  if (found === undefined || (list ? Array.isArray(found) : isEntry(found))) return undefined;
  return `"${container.join('.')}" in the file is not a ${list ? 'list' : 'map'}`;
}
function inputsIn(value) {
  if (typeof value === 'string')
    return OURS.parse(value).flatMap((segment) => (segment.kind === 'input' ? [segment.name] : []));
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(inputsIn) : [];
}
//# sourceMappingURL=write-client-config.js.map
