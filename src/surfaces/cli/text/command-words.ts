import type { Operation } from '../../../operations/operation.ts'
import { kebab } from '../arguments/flag.ts'

/** A sentence that names tools, as one that names commands: `start_task { name: "x" }` is `waymark task start --name x`. */
export function inCommands(sentence: string, operations: readonly Operation[]): string {
  const commands = new Map(operations.map(({ name, command }) => [name, command]))
  return sentence
    .replace(/\b([a-z]+(?:_[a-z]+)+)\b(?: \{ ?([^{}]*?) ?\})?/g, (whole, name: string, fields?: string) => {
      const command = commands.get(name)
      if (command === undefined) return whole
      return ['waymark', command, ...(fields === undefined ? [] : flagsFrom(fields))].join(' ')
    })
    .replace(/\bcall (?=waymark )/gi, (verb) => (verb.startsWith('C') ? 'Run ' : 'run '))
}

/** `mission_id, include: ["tasks"]` is `--mission-id … --include tasks`. */
function flagsFrom(fields: string): readonly string[] {
  return fields.split(/, (?=[a-z_-]+(?::|$|,))/).map((field) => {
    const [, name = field, value = '…'] = /^([a-z_-]+): (.*)$/.exec(field) ?? []
    const plain = value.replace(/^\[?"?|"?\]?$/g, '')
    if (plain === 'true') return `--${kebab(name)}`
    return `--${kebab(name)} ${/^[\w.,/…-]*$/.test(plain) ? plain : `"${plain}"`}`
  })
}

/** A sentence about fields, as one about the flags of a command: `"task_id"` is `--task-id`. */
export function inFlags(sentence: string, flagNames: ReadonlyMap<string, string>): string {
  return sentence.replace(/"([a-z_.-]+)"/g, (whole, path: string) => {
    const flag = flagNames.get(path)
    return flag === undefined ? whole : `--${flag}`
  })
}
