/** Names that agents already have tools for, and names that promise power over the machine. */

/** Built-in tools of widespread agents, in their own spelling: `Read` is one, the everyday word `read` is not. */
const BUILT_IN_NAMES: ReadonlySet<string> = new Set([
  ...['Bash', 'BashOutput', 'Edit', 'ExitPlanMode', 'Glob', 'Grep', 'KillShell', 'LS', 'MultiEdit'],
  ...['NotebookEdit', 'NotebookRead', 'Read', 'SlashCommand', 'Task', 'TodoWrite', 'WebFetch', 'WebSearch'],
  ...['Write', 'apply_patch', 'bash', 'code_execution', 'computer', 'run_terminal_cmd'],
  ...['str_replace_based_edit_tool', 'str_replace_editor', 'update_plan', 'web_fetch', 'web_search'],
]);

/** As a whole word of the name: `run_shell`, `execCommand`, `eval`. */
const DANGEROUS_WORDS: ReadonlySet<string> = new Set([
  ...['chmod', 'chown', 'eval', 'exec', 'execute', 'exfiltrate', 'kill', 'powershell', 'rm'],
  ...['shell', 'shutdown', 'sudo', 'terminal', 'wipe'],
]);

/** Files in which people keep secrets. A description has no reason to name them. */
const SECRET_FILES =
  /(?:~|\$HOME|\/home\/\w+|\/root)?\/?\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|git-credentials)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)\b/i;

export const isBuiltInName = (name: string): boolean => BUILT_IN_NAMES.has(name);

/** The dangerous word in a tool's name, or undefined. */
export function dangerousWord(name: string): string | undefined {
  const words = name
    .slice(0, 256)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.find((word) => DANGEROUS_WORDS.has(word));
}

/** The secret file that a text names, or undefined. */
export const namedSecretFile = (text: string): string | undefined => SECRET_FILES.exec(text)?.[0];
