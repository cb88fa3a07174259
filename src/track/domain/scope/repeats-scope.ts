/** Mission Control also words the scope result as a warning, which repeats the listed files. */
export function repeatsScope(warning: string, unexpected: readonly string[]): boolean {
  return unexpected.length > 0 && /outside (?:the )?declared scope/.test(warning)
}
