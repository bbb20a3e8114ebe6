import { TurnbuckleError } from 'turnbuckle';
import type { Command, CommandContext } from '../command.js';
import { needWord } from '../words.js';

const namesOf = (commands: readonly Command[]): string =>
  commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]).join(' ');

/** Commands whose first argument is a server. */
const BY_SERVER = [
  'call',
  'tools',
  'list',
  'status',
  'ls',
  'resources',
  'read',
  'prompts',
  'prompt',
  'ping',
  'logs',
  'config',
  'remove',
  'rm',
  'enable',
  'disable',
  'trust',
  'doctor',
  'export',
];
// bash expands the words it is given: a name with anything but plain letters could be a command of its own.
const SERVER_NAMES = `turnbuckle config --json 2>/dev/null | sed -n 's/^      "name": "\\([A-Za-z0-9._-]*\\)",$/\\1/p'`;

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_turnbuckle() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${namesOf(commands)}" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [[ " ${BY_SERVER.join(' ')} " == *" \${COMP_WORDS[1]} "* ]]; then
    COMPREPLY=($(compgen -W "$(${SERVER_NAMES})" -- "$word"))
  fi
}
complete -o default -F _turnbuckle turnbuckle tbk`,
  zsh: (commands) => `#compdef turnbuckle tbk
_turnbuckle() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, summary }) => `'${name}:${summary.replaceAll("'", "'\\''")}'`).join(' ')})
    _describe command commands
  elif (( CURRENT == 3 )) && [[ " ${BY_SERVER.join(' ')} " == *" \${words[2]} "* ]]; then
    compadd -- \${(f)"$(${SERVER_NAMES})"}
  fi
}
compdef _turnbuckle turnbuckle tbk`,
  fish: (commands) =>
    [
      'complete -c turnbuckle -f',
      ...commands.map(
        ({ name, summary }) =>
          `complete -c turnbuckle -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ),
      `complete -c turnbuckle -n '__fish_seen_subcommand_from ${BY_SERVER.join(' ')}' -a "(${SERVER_NAMES})"`,
    ].join('\n'),
};

export async function run(context: CommandContext): Promise<void> {
  const shell = needWord(context, 0, 'name of the shell');
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell]?.(context.commands) : undefined;
  if (script === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no completion for "${shell}".`, {
      hint: 'There is for bash, zsh and fish.',
    });
  if (context.output.json) context.output.data({ shell, script });
  else context.output.line(script);
}
