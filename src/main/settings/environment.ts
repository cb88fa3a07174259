/** The variables of a process, as they came in. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of the first of these variables that is set and not empty. */
export function firstSet(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== '')
}
