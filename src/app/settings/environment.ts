import { userInfo } from 'node:os'
import { Failure } from '../../kernel/failure.ts'

/** The variables of a process, as they came in. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of the first of these variables that is set and not empty. */
export function firstSetVariable(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== '')
}

/** The format of answers where no flag names one. */
export function formatIn(environment: Environment): 'json' | 'text' | undefined {
  const format = firstSetVariable(environment, ['WAYMARK_FORMAT'])
  if (format === undefined || format === 'json' || format === 'text') return format
  throw new Failure('INVALID_INPUT', `WAYMARK_FORMAT cannot be "${format}": choose json or text.`, {
    reason: 'setting_value_invalid',
    hint: 'Set it to one of them, or unset it: text is the default.',
  })
}

export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'somebody' // a user id that the system has no name for, as in some containers
  }
}
