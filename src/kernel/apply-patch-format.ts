/** Whether a text holds a patch in the form of `apply_patch`. */
export function isPatch(text: unknown): text is string {
  return typeof text === 'string' && text.includes('*** Begin Patch')
}

/** The files that such a patch adds, changes, moves or removes. */
export function pathsOfPatch(patch: string): readonly string[] {
  const matches = patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)
  return [...new Set([...matches].map(([, path = '']) => path.trimEnd()))]
}
