import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { toSignature } from '../typescript-signature.js';
import { showLine, showText } from '../untrusted-text.js';
export async function run(context) {
  const { output, flags } = context;
  await withRuntime(context, async ({ runtime }) => {
    const tools = await findTools(context, runtime);
    if (output.json) return output.data(tools.map(toJson));
    if (tools.length === 0) return output.note('No tool fits.');
    if (flags.ts === true) for (const tool of tools) output.line(`${toSignature(tool)}\n`);
    else if (flags.schema === true) for (const tool of tools) showSchema(context, tool);
    else
      for (const line of textTable(
        tools.map((tool) => [tool.server, tool.tool, output.color.dim(showLine(tool.description ?? '', 80))]),
      ))
        output.line(line);
  });
}
/** The first word may be a server; then only that one is connected. The rest are search words. */
async function findTools({ words, output }, runtime) {
  const server = runtime.status().find(({ name }) => name === words[0])?.name;
  if (server === undefined) await output.during('Connecting', runtime.connectAll());
  else await output.during(`Connecting ${server}`, runtime.connect(server));
  const search = words.slice(server === undefined ? 0 : 1).map((word) => word.toLowerCase());
  const all = server === undefined ? runtime.tools() : runtime.catalog.listByServer(server);
  return all.filter((tool) => {
    const haystack = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
    return search.every((word) => haystack.includes(word));
  });
}
function showSchema({ output }, tool) {
  output.line(output.color.bold(tool.displayName));
  if (tool.description !== undefined) output.line(showText(tool.description));
  output.line(`${showText(JSON.stringify(tool.inputSchema, null, 2))}\n`);
}
const toJson = ({ definition: _definition, ...tool }) => tool;
//# sourceMappingURL=tools.js.map
