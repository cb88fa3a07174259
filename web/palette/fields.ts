/** What a command takes. */
export interface Field {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  readonly type: 'text' | 'number' | 'yes or no' | 'list' | 'json'
  /** The words it may be; empty where it is free. */
  readonly choices: readonly string[]
  readonly longest: number
}

/** The input that was written, without what was left empty. Fails where a value is no JSON. */
export function inputOf(
  fields: readonly Field[],
  written: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const { name, type } of fields) {
    const text = written.get(name)?.trim() ?? ''
    if (text !== '') input[name] = readers[type](text)
  }
  return input
}

const readers = {
  text: (text) => text,
  number: Number,
  'yes or no': (text) => text === 'true',
  list: (text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  json: (text): unknown => JSON.parse(text),
} as const satisfies Record<Field['type'], (text: string) => unknown>
