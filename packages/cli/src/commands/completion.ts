import { TurnbuckleError } from 'turnbuckle';
import type { Command, CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';

const namesOf = (commands: readonly Command[]): string =>
  commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]).join(' ');

/** Those whose first argument is a server. */
const byServer = (commands: readonly Command[]): string =>
  namesOf(commands.filter((command) => /^[<[]server/.test(command.arguments)));

// bash expands these words: a name with other characters could run a command.
const SERVER_NAMES = `turnbuckle config --json 2>/dev/null | sed -n 's/^      "name": "\\([A-Za-z0-9._-]*\\)",$/\\1/p'`;

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_turnbuckle() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${namesOf(commands)}" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [[ " ${byServer(commands)} " == *" \${COMP_WORDS[1]} "* ]]; then
    COMPREPLY=($(compgen -W "$(${SERVER_NAMES})" -- "$word"))
  fi
}
complete -o default -F _turnbuckle turnbuckle tbk`,
  // When sourced, it registers itself; as a file in $fpath it is the function itself and has to run.
  zsh: (commands) => `#compdef turnbuckle tbk
_turnbuckle() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, summary }) => `'${name}:${summary.replaceAll("'", "'\\''")}'`).join(' ')})
    _describe command commands
  elif (( CURRENT == 3 )) && [[ " ${byServer(commands)} " == *" \${words[2]} "* ]]; then
    compadd -- \${(f)"$(${SERVER_NAMES})"}
  else
    _files
  fi
}
if [ "\${funcstack[1]}" = _turnbuckle ]; then
  _turnbuckle "$@"
else
  compdef _turnbuckle turnbuckle tbk
fi`,
  fish: (commands) =>
    [
      'function __turnbuckle_servers',
      `  ${SERVER_NAMES}`,
      'end',
      'complete -c tbk -w turnbuckle',
      "complete -c turnbuckle -f -n 'test (count (commandline -poc)) -le 2'",
      ...commands.map(
        ({ name, summary }) =>
          `complete -c turnbuckle -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ),
      `complete -c turnbuckle -n 'test (count (commandline -poc)) -eq 2; and __fish_seen_subcommand_from ${byServer(commands)}' -a '(__turnbuckle_servers)'`,
    ].join('\n'),
};

export async function run(context: CommandContext): Promise<void> {
  const shell = requirePositional(context, 0, 'shell');
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell]?.(context.commands) : undefined;
  if (script === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unsupported shell "${shell}".`, {
      hint: 'Supported shells: bash, zsh and fish.',
    });
  if (context.output.json) context.output.data({ shell, script });
  else context.output.line(script);
}
