import { Failure } from '../../domain/failure.ts'

/** The words of a person, where the waiting agent needs some. Fails with INVALID_INPUT where there are none. */
export function neededWords(
  words: string | undefined,
  { what, command }: { readonly what: string; readonly command: string },
): string {
  if (words !== undefined && words.trim() !== '') return words
  throw new Failure(
    'INVALID_INPUT',
    `${what} needs words: the waiting agent reads them and goes on by them.`,
    {
      hint: `Say why: ${command}`,
    },
  )
}
