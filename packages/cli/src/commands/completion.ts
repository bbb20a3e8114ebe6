import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { COMMANDS } from '../commands.js';
import { needWord } from '../words.js';

const NAMES = COMMANDS.map(({ name }) => name);
/** Commands whose first argument is a server. */
const BY_SERVER = [
  'call',
  'tools',
  'list',
  'resources',
  'read',
  'prompts',
  'prompt',
  'ping',
  'logs',
  'config',
  'remove',
  'enable',
  'disable',
  'trust',
  'doctor',
  'export',
];
const SERVER_NAMES = `turnbuckle config --json 2>/dev/null | sed -n 's/^      "name": "\\(.*\\)",$/\\1/p'`;

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_turnbuckle() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${NAMES.join(' ')}" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [[ " ${BY_SERVER.join(' ')} " == *" \${COMP_WORDS[1]} "* ]]; then
    COMPREPLY=($(compgen -W "$(${SERVER_NAMES})" -- "$word"))
  fi
}
complete -o default -F _turnbuckle turnbuckle tbk`,
  zsh: `#compdef turnbuckle tbk
_turnbuckle() {
  if (( CURRENT == 2 )); then
    local -a commands=(${COMMANDS.map(({ name, summary }) => `'${name}:${summary.replaceAll("'", "'\\''")}'`).join(' ')})
    _describe command commands
  elif (( CURRENT == 3 )) && [[ " ${BY_SERVER.join(' ')} " == *" \${words[2]} "* ]]; then
    compadd -- \${(f)"$(${SERVER_NAMES})"}
  fi
}
compdef _turnbuckle turnbuckle tbk`,
  fish: [
    'complete -c turnbuckle -f',
    ...COMMANDS.map(
      ({ name, summary }) =>
        `complete -c turnbuckle -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
    ),
    `complete -c turnbuckle -n '__fish_seen_subcommand_from ${BY_SERVER.join(' ')}' -a "(${SERVER_NAMES})"`,
  ].join('\n'),
};

export async function run(context: CommandContext): Promise<void> {
  const shell = needWord(context, 0, 'name of the shell');
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no completion for "${shell}".`, {
      hint: 'There is for bash, zsh and fish.',
    });
  context.output.line(script);
}
