/** Notes as git-ai writes them: what stands where, a line of three dashes, and facts of it as JSON. */
export interface Note {
  readonly files: readonly NotedFile[]
  /** As it stands there. */
  readonly facts: string
}

export interface NotedFile {
  readonly path: string
  readonly entries: readonly NotedLines[]
}

export interface NotedLines {
  /** `s_…::t_…`, `h_…`, or what older ones have. */
  readonly key: string
  readonly ranges: readonly (readonly [first: number, last: number])[]
}

/** Null for what is no such note. */
export function parseNote(text: string): Note | null {
  const lines = text.split(/\r?\n/)
  const divider = lines.indexOf('---')
  if (divider < 0) return null
  const files: { path: string; entries: NotedLines[] }[] = []
  for (const line of lines.slice(0, divider)) {
    if (line === '') continue
    if (!line.startsWith('  ')) {
      files.push({ path: line.startsWith('"') ? line.slice(1, -1) : line, entries: [] })
      continue
    }
    const [, key = '', list = ''] = /^ {2}(\S+) ([\d,\- ]+)$/.exec(line) ?? []
    const ranges = rangesIn(list)
    if (key === '' || ranges === null) return null
    files.at(-1)?.entries.push({ key, ranges })
  }
  return { files, facts: lines.slice(divider + 1).join('\n') }
}

function rangesIn(list: string): [number, number][] | null {
  const ranges: [number, number][] = []
  for (const part of list.split(',')) {
    const [, first, last] = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(part) ?? []
    if (first === undefined) return null
    ranges.push([Number(first), Number(last ?? first)])
  }
  return ranges
}

export function writtenNote({ files, facts }: Note): string {
  const attested = files
    .filter(({ entries }) => entries.length > 0)
    .flatMap(({ path, entries }) => [
      isPlain(path) ? path : `"${path}"`,
      ...entries.map(({ key, ranges }) => `  ${key} ${ranges.map(inWords).join(',')}`),
    ])
  return `${[...attested, '---'].join('\n')}\n${facts.trimEnd()}\n`
}

/** A path of several lines cannot be said in a note. */
export function isNotable(path: string): boolean {
  return !/[\n\r]/.test(path)
}

function isPlain(path: string): boolean {
  return !/\s|^"/.test(path) && path !== '---'
}

function inWords([first, last]: readonly [number, number]): string {
  return first === last ? `${first}` : `${first}-${last}`
}

/** The attribute of a session by which we know again what we wrote: `t_0123456789abcd=a-1@t-1`, with spaces between; `@probable` at its end where it is not sure. */
export const ownAttribute = 'dev.waymark'

type Told = Readonly<Record<string, unknown>>

/** Of the facts of a note. */
interface NoteFacts extends Told {
  readonly git_ai_version?: unknown
  readonly prompts?: Told
  readonly sessions?: Readonly<Record<string, Session>>
  readonly humans?: Told
}

interface Session extends Told {
  readonly custom_attributes?: Readonly<Record<string, string>>
}

/** What becomes of a note that stands at a commit already. */
export type NoteChange =
  | { readonly kind: 'same' }
  | { readonly kind: 'write'; readonly text: string }
  /** Somebody else wrote it, or a part of it. */
  | { readonly kind: 'foreign' }
  /** It cannot be read, so nothing can be added to it. */
  | { readonly kind: 'unreadable' }

interface Changing {
  readonly standing: string | null
  readonly own: string
  /** Whether ours may be added to what others wrote. */
  readonly merge: boolean
}

/** A note of git-ai: ours is written anew, and others' are left as they are unless ours may be added to them. */
export function changedNote({ standing, own, merge }: Changing): NoteChange {
  if (standing === null) return { kind: 'write', text: own }
  if (standing === own) return { kind: 'same' }
  const theirs = withoutOwn(standing)
  if (theirs === null) return merge ? { kind: 'unreadable' } : { kind: 'foreign' }
  if (theirs.isEmpty) return { kind: 'write', text: own }
  const text = merged(theirs, own)
  if (text === standing) return { kind: 'same' }
  return merge ? { kind: 'write', text } : { kind: 'foreign' }
}

interface Theirs {
  readonly files: readonly NotedFile[]
  readonly facts: NoteFacts
  /** All of it was ours. */
  readonly isEmpty: boolean
}

/** What others wrote of a note; null where it cannot be read. */
function withoutOwn(text: string): Theirs | null {
  const note = parseNote(text)
  const facts = note === null ? null : factsOf(note.facts)
  if (note === null || facts === null) return null
  const sessions = Object.entries(facts.sessions ?? {})
  const own = new Map(sessions.map(([name, told]) => [name, ownKeys(told)]))
  const persons = Object.entries(facts.humans ?? {})
  const ownPersons = new Set(persons.filter(([, told]) => isOwnPerson(told)).map(([key]) => key))
  const isOwn = ({ key }: NotedLines): boolean => {
    if (ownPersons.has(key)) return true
    const [session = '', trace = ''] = key.split('::')
    return own.get(session)?.includes(trace) === true
  }
  const files = note.files
    .map(({ path, entries }) => ({ path, entries: entries.filter((entry) => !isOwn(entry)) }))
    .filter(({ entries }) => entries.length > 0)
  const named = new Set(files.flatMap(({ entries }) => entries.map(({ key }) => key.split('::')[0] ?? '')))
  const left = sessions.filter(([name, told]) => ownKeys(told).length === 0 || named.has(name))
  const isEmpty =
    files.length === 0 &&
    left.length === 0 &&
    facts.git_ai_version === undefined &&
    Object.keys(facts.prompts ?? {}).length === 0 &&
    ownPersons.size === persons.length
  const humans = Object.fromEntries(persons.filter(([key]) => !ownPersons.has(key)))
  return { files, facts: { ...facts, sessions: Object.fromEntries(left.map(unmarked)), humans }, isEmpty }
}

function unmarked([name, { custom_attributes, ...told }]: readonly [string, Session]): [string, Session] {
  const others = Object.entries(custom_attributes ?? {}).filter(([key]) => key !== ownAttribute)
  return [name, { ...told, ...(others.length > 0 && { custom_attributes: Object.fromEntries(others) }) }]
}

function isOwnPerson(told: unknown): boolean {
  return typeof told === 'object' && told !== null && ownAttribute in told
}

function ownKeys({ custom_attributes }: Session): readonly string[] {
  const written = custom_attributes?.[ownAttribute]
  return typeof written === 'string' ? written.split(' ').map((one) => one.split('=')[0] ?? '') : []
}

function factsOf(text: string): NoteFacts | null {
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : null
  } catch {
    return null
  }
}

/** Keys of both; where both name a line it stays theirs, since of two the later one is read. */
function merged(theirs: Theirs, own: string): string {
  const ours = parseNote(own)
  const facts = factsOf(ours?.facts ?? '')
  const added = new Map((ours?.files ?? []).map(({ path, entries }) => [path, entries]))
  const files = theirs.files.map(({ path, entries }) => {
    const taken = entries.flatMap(({ ranges }) => ranges)
    const more = (added.get(path) ?? []).map((entry) => ({ ...entry, ranges: without(entry.ranges, taken) }))
    added.delete(path)
    return { path, entries: [...entries, ...more.filter(({ ranges }) => ranges.length > 0)] }
  })
  const rest = [...added].map(([path, entries]) => ({ path, entries }))
  const sessions: Record<string, Session> = { ...theirs.facts.sessions }
  for (const [name, told] of Object.entries(facts?.sessions ?? {})) {
    const known = sessions[name]
    const custom_attributes = { ...known?.custom_attributes, ...told.custom_attributes }
    sessions[name] = known === undefined ? told : { ...known, custom_attributes }
  }
  const humans = { ...facts?.humans, ...theirs.facts.humans }
  const all = { ...theirs.facts, sessions, humans }
  return writtenNote({ files: [...files, ...rest], facts: JSON.stringify(all, null, 2) })
}

type Ranges = NotedLines['ranges']

function without(ranges: Ranges, taken: Ranges): Ranges {
  return taken.reduce<Ranges>(
    (left, [from, to]) =>
      left.flatMap(([first, last]) => {
        const before: Ranges = first < from ? [[first, Math.min(last, from - 1)]] : []
        const after: Ranges = last > to ? [[Math.max(first, to + 1), last]] : []
        return [...before, ...after]
      }),
    ranges,
  )
}

/** Records of Agent Trace, one a line: ours are written anew, others' stay as they are, before ours. */
export function changedTraces({ standing, own, merge }: Changing): NoteChange {
  if (standing === null) return { kind: 'write', text: own }
  if (standing === own) return { kind: 'same' }
  const theirs = standing.split('\n').filter((line) => line.trim() !== '' && !isOwnTrace(line))
  if (theirs.length === 0) return { kind: 'write', text: own }
  const text = `${theirs.join('\n')}\n${own}`
  if (text === standing) return { kind: 'same' }
  if (!merge) return { kind: 'foreign' }
  return theirs.every(isRecord) ? { kind: 'write', text } : { kind: 'unreadable' }
}

function isOwnTrace(line: string): boolean {
  const tool = factsOf(line)?.['tool']
  return typeof tool === 'object' && tool !== null && 'name' in tool && tool.name === 'waymark'
}

function isRecord(line: string): boolean {
  return factsOf(line) !== null
}
