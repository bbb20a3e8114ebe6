/** What a command is: data for help, completion and the reference page, and the code behind it on demand. */
/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  help: { type: 'boolean', short: 'h', summary: 'Show help for the command' },
  json: { type: 'boolean', summary: 'Print JSON, for programs' },
  config: {
    type: 'string',
    multiple: true,
    value: 'file',
    summary: 'A configuration file above the others; may be given more than once',
  },
  'mcp-server': {
    type: 'string',
    multiple: true,
    value: 'name=command|url',
    summary: 'A server for this run only: name=npx -y pkg, or name=https://…',
  },
  'trust-project': { type: 'boolean', summary: "Agree to the project's servers for this run (for CI)" },
  verbose: { type: 'boolean', short: 'v', summary: 'Say more about what happens' },
};
//# sourceMappingURL=command.js.map
