import type { Operation } from './operation.ts'

// A refusal says how to go on. It names a call once, by its operation, as an agent writes it:
// `start_task { planned_task_id: "t-1" }`. For a person the same sentence names the command.

/** A sentence that names calls, as one that names commands: `start_task { name: "x" }` is `waymark task start --name x`. */
export function inCommands(sentence: string, operations: readonly Operation[]): string {
  const commands = new Map(operations.map(({ name, command }) => [name, command]))
  return sentence
    .replace(namedCall, (whole, name: string, fields?: string) => {
      const command = commands.get(name)
      if (command === undefined) return whole
      return ['waymark', command, ...(fields === undefined ? [] : flagsFrom(fields))].join(' ')
    })
    .replace(/\bcall (?=waymark )/gi, (verb) => (verb.startsWith('C') ? 'Run ' : 'run '))
}

const namedCall = /\b([a-z]+(?:_[a-z]+)+)\b(?: \{ ?([^{}]*?) ?\})?/g

/** `mission_id, include: ["tasks"]` is `--mission-id … --include tasks`. */
function flagsFrom(fields: string): readonly string[] {
  return fields.split(/, (?=[a-z_-]+(?::|$|,))/).map((field) => {
    const [, name = field, value = '…'] = /^([a-z_-]+): (.*)$/.exec(field) ?? []
    const plain = value.replace(/^\[?"?|"?\]?$/g, '')
    const flag = `--${name.replaceAll('_', '-')}`
    if (plain === 'true') return flag
    return `${flag} ${/^[\w.,/…-]*$/.test(plain) ? plain : `"${plain}"`}`
  })
}
