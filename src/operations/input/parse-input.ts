import { Failure } from '../../domain/failure.ts'
import type { Operation } from '../operation.ts'
import { adapt, plainKey } from './adapt.ts'
import { explainIssue } from './explain-issue.ts'
import { inputSchema } from './json-schema.ts'

/** Parses what a caller sent, generous where agents err, and says every mistake at once. */
export function parseInput(operation: Operation, raw: unknown): Record<string, unknown> {
  const given = raw ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw new Failure(
      'INVALID_INPUT',
      `${operation.name} takes an object of named fields, not ${kindOf(given)}.`,
    )
  }
  refuseMasses(operation, given)
  const adapted = adapt(inOwnWords(operation, given), inputSchema(operation))
  const parsed = operation.input.safeParse(adapted)
  if (parsed.success) return parsed.data
  const fields = Object.keys(operation.input.shape)
  // Only a few are told, and explaining a hundred thousand takes long.
  const sentences = parsed.error.issues
    .slice(0, 100)
    .map((issue) => explainIssue(issue, adapted, operation.input))
  const unique = [...new Set(sentences)]
  throw new Failure('INVALID_INPUT', `${operation.name}: ${unique.slice(0, 8).join(' ')}`, {
    ...(!listsFields(unique) && {
      hint: `${operation.name} takes ${fields.length === 0 ? 'no fields' : fields.join(', ')}.`,
    }),
    details: { fields: parsed.error.issues.slice(0, 8).map((issue) => issue.path.join('.')) },
  })
}

const mostFields = 200
const mostEntries = 20_000

/** No operation takes as much, and saying of each entry what is wrong with it would take long. */
function refuseMasses(operation: Operation, given: object): void {
  const fields = Object.keys(given).length
  if (fields > mostFields) {
    throw new Failure('INVALID_INPUT', `${operation.name}: the input has ${fields} fields.`, {
      hint: `${operation.name} takes ${Object.keys(operation.input.shape).join(', ') || 'no fields'}.`,
    })
  }
  for (const [field, value] of Object.entries(given)) {
    if (!Array.isArray(value) || value.length <= mostEntries) continue
    throw new Failure(
      'INVALID_INPUT',
      `${operation.name}: "${field.slice(0, 60)}" has ${value.length} entries; at most ${mostEntries} are read.`,
    )
  }
}

/** Whether the fields were named already: once is enough. */
function listsFields(sentences: readonly string[]): boolean {
  return sentences.some((sentence) => /^Unknown fields? "[^."]*".*: the fields are /.test(sentence))
}

/** The input with the fields that other programs call otherwise under their names here, in whatever spelling. */
function inOwnWords({ synonyms, input }: Operation, given: object): object {
  if (synonyms === undefined) return given
  const meanings = new Map(Object.entries(synonyms).map(([word, field]) => [plainKey(word), field]))
  const own = new Set(Object.keys(input.shape).map(plainKey))
  const sent = new Map(Object.entries(given).map(([key, value]) => [plainKey(key), value]))
  const entries = Object.entries(given).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    const meant = own.has(plainKey(key)) ? undefined : meanings.get(plainKey(key))
    if (meant === undefined) return [[key, value]]
    if (!sent.has(plainKey(meant))) return [[meant, value]]
    // Said twice, in the same way: once is enough. Said in two ways, it is refused as a field that is unknown.
    return sent.get(plainKey(meant)) === value ? [] : [[key, value]]
  })
  return Object.fromEntries(entries)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return `a ${typeof value}`
}
