/** A call of a tool that has not happened yet. */
export interface ToolUse {
  /** What the tool is called, and what other clients call the same tool. */
  readonly names: readonly [string, ...string[]]
  /** Whether it changes the file that it names. */
  readonly edits: boolean
  readonly file: NamedFile
  /** The line that it gives to a shell; null when it gives none. */
  readonly command: string | null
}

/** The file or folder that a call names, if it names one. `path` is relative to the work tree's top, with `/`. */
export type NamedFile =
  | { readonly where: 'inside'; readonly path: string }
  | { readonly where: 'outside'; readonly path: string }
  | { readonly where: 'nowhere' }

/** What is said about a call. Null where there is nothing to say: the client's own rules then decide. */
export interface HookVerdict {
  readonly decision: 'ask' | 'deny'
  readonly reason: string
}

/** The strictest of several, with every reason for it. */
export function strictest(verdicts: readonly (HookVerdict | null)[]): HookVerdict | null {
  const said = verdicts.filter((verdict) => verdict !== null)
  const denials = said.filter(({ decision }) => decision === 'deny')
  const [first, ...others] = denials.length > 0 ? denials : said
  if (first === undefined) return null
  return { ...first, reason: [first, ...others].map(({ reason }) => reason).join('\n') }
}
