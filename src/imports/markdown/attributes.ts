/** A title without what stands at its end. */
export interface Attributes {
  readonly title: string
  readonly key: string | null
  readonly role: string | null
  /** What has to be done before, as written. */
  readonly after: readonly string[]
  /** Attributes that were given twice; the last one counts. */
  readonly repeated: readonly string[]
}

type Attribute = 'key' | 'role' | 'after'

const endings: readonly (readonly [Attribute, RegExp])[] = [
  ['after', /(?:^|\s)\((?:after|depends on):\s*((?:[^()]|\([^()]*\))*)\)$/i],
  ['key', /(?:^|\s)\((?:id|key):\s*([^()]+)\)$/i],
  ['role', /(?:^|\s)\(role:\s*([^()]+)\)$/i],
  // After `after:` or a comma it is a reference to another task.
  [
    'key',
    /(?<!(?:after|depends on):\s*|,\s*)(?:^|\s)(?<!(?:after|depends on):\s*|,\s*)#(?=[\p{N}_.-]*\p{L})([\p{L}\p{N}_.-]+)$/iu,
  ],
  ['key', /\sid:\s*([^\s,()]+)$/i],
  ['role', /(?:^|\s)@(\p{L}[\p{L}\p{N}_-]*)$/u],
  ['after', /\s(?:[—–-]\s*)?(?:after|depends on):\s*(.+)$/i],
]

/** Each one is looked for in all that is left of the line. */
const mostAttributes = 12

/** Takes attributes away from the end, one by one, until the end is title. */
export function attributesOf(line: string): Attributes {
  const found: Record<Attribute, string[]> = { key: [], role: [], after: [] }
  let title = line.replace(/\s+/g, ' ').trim()
  for (let taken = 0; taken < mostAttributes; taken += 1) {
    const ending = endings.find(([, pattern]) => pattern.test(title))
    if (!ending) break
    const [attribute, pattern] = ending
    found[attribute].push(pattern.exec(title)?.[1]?.trim() ?? '')
    title = title.replace(pattern, '').trimEnd()
  }
  return {
    title: unwrapped(title),
    key: found.key[0] ?? null,
    role: found.role[0] ?? null,
    after: found.after.filter((text) => text !== '').reverse(),
    repeated: (['key', 'role'] as const).filter((name) => found[name].length > 1),
  }
}

/** `**All bold**` is a title as well; `\#` and `\@` are signs that belong to it. */
function unwrapped(title: string): string {
  const bold = /^(\*\*|__)(.+)\1$/.exec(title)
  const inner = bold && !bold[2]?.includes(bold[1] ?? '') ? (bold[2] ?? title) : title
  return inner.replace(/\\([#@])/g, '$1').trim()
}
