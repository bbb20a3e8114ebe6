import type { FixtureTool } from '../kernel/behaviour.js';
import { Flags } from '../kernel/flags.js';
import type { JsonObject } from '../kernel/json.js';
import { serve } from '../serve.js';
import { createEchoTool } from '../tools/basic-tools.js';
import { createTool, toFailure, toText } from '../tools/tool.js';

// `mutate` adds, removes or renames a tool and sends a notification; `lists` returns how often the list was read.
// --flood N sends each notification N times in a burst; --silent sends none.
const flags = new Flags();
const announcements = flags.on('silent') ? 0 : flags.number('flood', 1);
let lists = 0;

function createPlainTool(name: string): FixtureTool {
  return createTool({ name, description: `Says ${name}` }, () => toText(name));
}

const name = { type: 'string' };
const tools: FixtureTool[] = [
  createEchoTool(),
  createPlainTool('first'),
  createTool({ name: 'lists', description: 'How often the list was read' }, () => toText(String(lists))),
  createTool(
    {
      name: 'mutate',
      description: 'Changes the list of tools',
      input: { action: { type: 'string', enum: ['add', 'remove', 'rename'] }, name, to: name },
      required: ['action', 'name'],
    },
    (args, { server }) => {
      if (!mutate(args)) return toFailure('no such tool or action');
      for (let sent = 0; sent < announcements; sent += 1) server.changed('tools');
      return toText(`${args.action} ${args.name}`);
    },
  ),
];

function mutate({ action, name, to }: JsonObject): boolean {
  if (action === 'add') return tools.push(createPlainTool(String(name))) > 0;
  const index = tools.findIndex(({ definition }) => definition.name === name);
  if (index < 0 || !['remove', 'rename'].includes(String(action))) return false;
  tools.splice(index, 1, ...(action === 'rename' ? [createPlainTool(String(to))] : []));
  return true;
}

await serve(
  {
    name: 'list-changing',
    tools,
    answered: (method) => {
      if (method === 'tools/list') lists += 1;
    },
  },
  { flags },
);
