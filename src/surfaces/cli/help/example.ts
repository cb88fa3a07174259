import type { Operation } from '../../../operations/operation.ts'
import type { Flag } from '../arguments/flag.ts'

/** A command line with every required field, in the words of the contract where it gives an example. */
export function exampleOf(operation: Operation, flags: readonly Flag[]): string {
  const places = operation.positional ?? []
  const byPlace = places.flatMap((name) => flags.filter(({ path }) => path.length === 1 && path[0] === name))
  const positionals = byPlace.filter((flag, at) => flag.required || at === 0 || givesExample(flag))
  const named = flags.filter((flag) => isNeeded(flag, flags) && !positionals.includes(flag))
  return [
    'waymark',
    operation.command,
    ...positionals.map(exampleValue),
    ...named.map((flag) =>
      flag.takes === 'nothing' ? `--${flag.name}` : `--${flag.name} ${exampleValue(flag)}`,
    ),
  ].join(' ')
}

function givesExample({ description }: Flag): boolean {
  return description.includes('e.g., ')
}

/** Required, and not an object that its own fields spell out. */
function isNeeded(flag: Flag, flags: readonly Flag[]): boolean {
  if (!flag.required) return false
  const parents = flag.path.slice(0, -1)
  const parent = flags.find(({ path }) => path.length > 0 && path.join('.') === parents.join('.'))
  const spelledOut = flags.some(
    ({ path, required }) => required && path.length > flag.path.length && path[0] === flag.path[0],
  )
  return !spelledOut && (parents.length === 0 || parent?.required === true)
}

function exampleValue(flag: Flag): string {
  if (flag.choices[0] !== undefined) return flag.choices[0]
  if (flag.takes === 'number') return '1'
  if (flag.takes === 'json') return `'{…}'`
  const name = flag.path.at(-1) ?? ''
  const prefix = /\(([a-z]+)-…/.exec(flag.description)?.[1] ?? idLetter[name.replace(/-/g, '_')]
  if (prefix !== undefined) return `${prefix}-4k2m9x7c0vqa`
  const quoted = /e\.g\., \[?'([^']*)'/.exec(flag.description)?.[1]
  return `"${quoted ?? '…'}"`
}

const idLetter: Readonly<Record<string, string>> = {
  mission_id: 'm',
  task_id: 't',
  dep_id: 't',
  attempt_id: 'a',
}
