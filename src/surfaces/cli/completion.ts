import { inputSchema } from '../../kernel/operations/input/json-schema.ts'
import { idsWithPrefix } from '../../kernel/operations/input/short-ids.ts'
import type { Context, Operation } from '../../kernel/operations/operation.ts'
import { findCommand } from './commands.ts'
import { type Flag, flagsOf, generalFlags, usageFailure } from './flags.ts'
import { otherCommands, wordsAfter } from './other-commands.ts'

type CompletionContext = Pick<Context, 'store' | 'processFiles'>

/** The completions of the last word. */
export async function completionsOf(
  words: readonly string[],
  operations: readonly Operation[],
  context: CompletionContext,
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const found = findCommand(operations, before)
  if (!found) {
    const other = otherCommands.find(({ command }) => command === before.join(' '))
    const next = other ? wordsAfter(other) : commandWords(before, operations)
    return next.filter((word) => word.startsWith(typed))
  }
  const { operation, rest } = found
  const flags = [...flagsOf(inputSchema(operation)), ...generalFlags]
  const last = flags.find(({ name }) => before.at(-1) === `--${name}`)
  if (last !== undefined && last.takes !== 'nothing') return valuesOf(last, { operation, typed }, context)
  if (typed.startsWith('-'))
    return flags.map(({ name }) => `--${name}`).filter((flag) => flag.startsWith(typed))
  const further = rest.length === 0 ? commandWords(before, operations) : []
  const place = operation.positional?.[positionals(rest, flags)]
  const flag = flags.find(({ path }) => path.join('.') === place)
  const values = flag === undefined ? [] : await valuesOf(flag, { operation, typed }, context)
  return [...further.filter((word) => word.startsWith(typed)), ...values]
}

/** The number of positional values. */
function positionals(rest: readonly string[], flags: readonly Flag[]): number {
  const taking = flags.filter(({ takes }) => takes !== 'nothing').map(({ name }) => `--${name}`)
  return rest.filter((word, at) => !word.startsWith('-') && !taking.includes(rest[at - 1] ?? '')).length
}

interface CompletionTarget {
  readonly operation: Operation
  readonly typed: string
}

async function valuesOf(
  flag: Flag,
  { operation, typed }: CompletionTarget,
  context: CompletionContext,
): Promise<readonly string[]> {
  if (flag.choices.length > 0) return flag.choices.filter((choice) => choice.startsWith(typed))
  const field = flag.path.join('.')
  if (['process', 'process_id'].includes(field)) {
    const processes = await context.processFiles.list()
    return processes.map(({ id }) => id).filter((id) => id.startsWith(typed))
  }
  if (field.endsWith('phase') || (field === 'id' && operation.name.startsWith('taskman_phase'))) {
    if (flag.takes === 'number') return []
    const phases = await context.store.view(({ plan }) => plan.phases(null))
    return phases.map(({ id }) => id).filter((id) => id.startsWith(typed))
  }
  if (field.endsWith('milestone') || (field === 'id' && operation.name.startsWith('taskman_milestone'))) {
    const milestones = await context.store.view(({ plan }) => plan.milestones({ owner: null }))
    return milestones.map(({ id }) => id).filter((id) => id.startsWith(typed))
  }
  const kinds = idKinds(field, flag, operation).filter((kind) => {
    const start = `${kind}-`
    return start.startsWith(typed) || typed.startsWith(start)
  })
  const found = await Promise.all(
    kinds.map((kind) => idsWithPrefix(context.store, typed.length > kind.length ? typed : `${kind}-`)),
  )
  return found.flat()
}

/** The prefixes of the ids of a field. */
function idKinds(field: string, { description }: Flag, { name }: Operation): readonly string[] {
  if (/run_?id$/.test(field)) return ['run']
  if (/^(?:mission|mission_id)$/.test(field)) return ['m', 'w']
  if (/task_id$|^(?:task-id|dep-id|task|parent|depends_on)$/.test(field)) return ['t']
  if (field !== 'id') return []
  if (['approve', 'reject'].includes(name)) return ['h', 'run']
  if (name === 'resolve') return ['h']
  if (/task/.test(name)) return ['t']
  const named = [...description.matchAll(/\b([a-z]+)-…/g)].flatMap(([, kind]) => kind ?? [])
  return named.length > 0 ? named : ['t', 'm', 'w']
}

/** The next words of the commands that begin with the words before. */
function commandWords(before: readonly string[], operations: readonly Operation[]): readonly string[] {
  const all = [...operations, ...otherCommands].map(({ command }) => command.split(' '))
  const fitting = all.filter((command) => before.every((word, at) => command[at] === word))
  return [...new Set(fitting.flatMap((command) => command.slice(before.length, before.length + 1)))]
}

const scripts: Readonly<Record<string, string>> = {
  bash: `# Add to ~/.bashrc: eval "$(waymark completion bash)"
_waymark() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(waymark __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _waymark waymark
`,
  zsh: `#compdef waymark
# Add to ~/.zshrc: eval "$(waymark completion zsh)"
_waymark() {
  local -a found
  found=("\${(@f)$(waymark __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _waymark waymark
`,
  fish: `# Save as ~/.config/fish/completions/waymark.fish
complete -c waymark -f -a '(waymark __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

/** The script that makes a shell complete our commands, flags, choices and ids. */
export function completionScript(shell: string | undefined): string {
  const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script !== undefined) return script
  const wrong =
    shell === undefined ? 'completion needs the name of a shell.' : `There is no completion for ${shell}.`
  throw usageFailure(wrong, 'waymark completion bash, zsh or fish')
}
