/** An error makes a definition unusable; a warning is probably a mistake; a note is information. */
export type Severity = 'error' | 'warning' | 'note'

/** A path in a definition: `['transitions', 2, 'guard']`, as it is written in YAML. */
export type DefinitionPath = readonly (string | number)[]

export interface Finding {
  readonly severity: Severity
  /** The rule's name, `unknown-reference`. */
  readonly rule: string
  /** One sentence with the value in it. */
  readonly message: string
  readonly path: DefinitionPath
}

export function finding(
  severity: Severity,
  rule: string,
  details: Pick<Finding, 'message' | 'path'>,
): Finding {
  return { severity, rule, message: details.message, path: details.path }
}
