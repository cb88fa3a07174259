/** A file as it was shown: null where there was none. */
export interface ShownFile {
  readonly path: string
  readonly sha256: string | null
  /** Its text, where it is short enough to be kept for a difference. */
  readonly text: string | null
}

/** What a person is shown before they answer. */
export interface ShownParts {
  readonly files: readonly ShownFile[]
  /** What else the answer is bound to, by its name: the state, the revision, the hash of the tree. */
  readonly facts: Readonly<Record<string, string>>
}

/** What differs between what was shown and what is there. */
export interface ShownDifference {
  readonly files: readonly {
    readonly path: string
    readonly shown: string | null
    readonly now: string | null
    /** A unified diff; null where one of the two contents is not kept. */
    readonly diff: string | null
  }[]
  readonly facts: readonly {
    readonly name: string
    readonly shown: string | null
    readonly now: string | null
  }[]
}

/** How much of a hash is enough to name it. */
const shortContent = 12
const leastContent = 6

/** What a run is called by its revision, where it holds nothing that could be hashed. */
export function revisionContent(revision: number): string {
  return `r${revision}`
}

/** Whether what a person saw, perhaps shortened, is this content. */
export function isContent(seen: string, content: string): boolean {
  if (!isHash(content)) return seen === content
  return seen.length >= leastContent && content.startsWith(seen.toLowerCase())
}

/** Whether a text can name what was shown: a hash or the beginning of one, or a revision such as `r3`. */
export function namesContent(text: string): boolean {
  return /^(?:r[1-9]\d{0,15}|[0-9a-f]{6,64})$/i.test(text)
}

export function shortened(content: string): string {
  return isHash(content) ? content.slice(0, shortContent) : content
}

function isHash(content: string): boolean {
  return /^[0-9a-f]{64}$/.test(content)
}

/** What is another now, in a few words: `plan.md changed, notes.md is gone`. */
export function differenceWords({ files, facts }: ShownDifference): string {
  const words = [
    ...files.map(({ path, shown, now }) => {
      if (shown === null) return `${path} is new`
      return now === null ? `${path} is gone` : `${path} changed`
    }),
    ...facts.map(({ name, shown, now }) => factWords(name, shown, now)),
  ]
  const more = words.length > mostWords ? ` and ${words.length - mostWords} more` : ''
  return `${words.slice(0, mostWords).join(', ')}${more}`
}

const mostWords = 5

function factWords(name: string, shown: string | null, now: string | null): string {
  const said = (value: string | null) => (value === null ? 'nothing' : shortened(value))
  return `${name}: ${said(shown)} → ${said(now)}`
}
