/** Which variables of the host a child process gets: the few that every program needs, never the host's keys. */

const STANDARD_VARIABLES: readonly string[] =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'COMSPEC',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'PROGRAMDATA',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

/** How many gateways started each other, if a gateway sets it. */
const DEPTH_VARIABLE = 'TURNBUCKLE_DEPTH';

/** What opens the vault is for no server, even if its configuration names it. */
const PASSPHRASE_VARIABLES = /^TURNBUCKLE_(NEW_)?PASSPHRASE$/;

/** The environment of a child: standard variables and named ones from the host, then its own. */
export function childEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  server: { readonly env: Readonly<Record<string, string>>; readonly inheritEnv: readonly string[] },
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [...STANDARD_VARIABLES, DEPTH_VARIABLE, ...server.inheritEnv]) {
    if (PASSPHRASE_VARIABLES.test(name)) continue;
    const value = host[name];
    // An exported shell function is code that a shell-based server would run.
    if (typeof value === 'string' && !value.startsWith('()')) env[name] = value;
  }
  return { ...env, ...server.env };
}
