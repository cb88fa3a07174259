/** What is told of a path where nothing is. */
export const missing = 'does not exist'

/** The code of a system's error, or the error as text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Whether the error says that nothing is at a path. */
export function saysMissing(code: string): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR'
}
