import { userInfo } from 'node:os'

/** The variables of a process, as they came in. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of the first of these variables that is set and not empty. */
export function firstSet(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== '')
}

export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'somebody' // a user id that the system has no name for, as in some containers
  }
}
