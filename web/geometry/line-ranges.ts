import { broughtByGit } from '../../src/track/domain/changes.ts'

/** Lines that follow one another and are from the same maker, as answers of `blame` spell them. */
export interface ProvenanceRange {
  readonly start: number
  readonly end: number
  readonly kind: 'agent' | 'outside' | 'author' | 'before' | 'uncommitted'
  readonly certainty: string
  readonly attribution?: 'certain' | 'probable' | 'contested' | undefined
  readonly rests?: true | undefined
  readonly attempt: string | null
  /** The agent's session that they are from, where they were made without a task. */
  readonly session?: string | undefined
  readonly attempts?: readonly string[] | undefined
  readonly task: string | null
  readonly goal: string | null
  readonly agent: string | null
  readonly author: string | null
  readonly commit: string | null
  readonly brought_by?: Parameters<typeof broughtByGit>[0]
}

/** Who lines are from, in the words of a margin. */
export interface LineOwnerLabel {
  /** Lines with the same key are of the same maker. */
  readonly key: string
  readonly name: string
  /** Beside the name: the task's goal, or that nobody recorded it. */
  readonly words: string
  /** How sure it is, where that is less than certain; empty else. */
  readonly doubt: string
}

/** What is said of lines in a margin. */
export function lineOwnerLabel({
  kind,
  certainty,
  attribution,
  rests,
  attempts,
  ...story
}: ProvenanceRange): LineOwnerLabel {
  const { attempt, session, task, goal, agent, author, commit, brought_by } = story
  const broughtWords = brought_by === undefined ? [] : [broughtByGit(brought_by)]
  const short = commit?.slice(0, 8) ?? ''
  switch (kind) {
    case 'agent': {
      const doubts = [
        attribution === undefined ? '' : doubtWords[attribution],
        // Known by the content itself is what needs no word.
        ['exact', attribution].includes(certainty) ? '' : certainty,
        rests ? 'rests on its neighbours' : '',
      ]
      return {
        key: `agent ${attempts?.join(' ') ?? attempt ?? session ?? agent ?? ''}`,
        name: agent ?? 'an agent',
        words: [
          goal ?? task ?? (session === undefined ? '' : 'in a session, without a task'),
          ...broughtWords,
        ].join(', '),
        doubt: doubts.filter((doubt) => doubt !== '').join(', '),
      }
    }
    case 'outside':
      return { key: 'outside', name: 'No attempt', words: 'a person, or an unseen tool', doubt: '' }
    case 'uncommitted':
      return {
        key: 'uncommitted',
        name: 'Not recorded',
        words: brought_by === undefined ? 'and in no commit' : `${broughtByGit(brought_by)}, not committed`,
        doubt: '',
      }
    case 'author':
    case 'before': {
      const why = kind === 'author' ? 'not recorded' : 'before Waymark'
      return {
        key: `${kind} ${author ?? ''}`,
        name: author ?? 'Unknown',
        words: [short, why, ...broughtWords].filter((word) => word !== '').join(', '),
        doubt: '',
      }
    }
  }
}

/** The stories that have a line from `first` to `last`. */
export function rangesBetween<S extends Pick<ProvenanceRange, 'start' | 'end'>>(
  stories: readonly S[],
  first: number,
  last: number,
): readonly S[] {
  const from = placeOf(stories, first)
  let until = from
  while (until < stories.length && (stories[until]?.start ?? 0) <= last) until += 1
  return stories.slice(from, until)
}

/** The story of a line; undefined where the file has no such line. */
export function storyAtLine<S extends Pick<ProvenanceRange, 'start' | 'end'>>(
  stories: readonly S[],
  line: number,
): S | undefined {
  const found = stories[placeOf(stories, line)]
  return found !== undefined && found.start <= line ? found : undefined
}

/** The place of the first story that ends at a line or after it. */
function placeOf(stories: readonly Pick<ProvenanceRange, 'end'>[], line: number): number {
  let [low, high] = [0, stories.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((stories[middle]?.end ?? 0) < line) low = middle + 1
    else high = middle
  }
  return low
}

/** How many lines are from each maker, most first, with where the first of them is. */
export function makersOf<S extends ProvenanceRange>(
  stories: readonly S[],
): readonly { readonly story: S; readonly lines: number }[] {
  const makers = new Map<string, { readonly story: S; lines: number }>()
  for (const story of stories) {
    const { key } = lineOwnerLabel(story)
    const known = makers.get(key) ?? { story, lines: 0 }
    known.lines += story.end - story.start + 1
    makers.set(key, known)
  }
  return [...makers.values()].sort((a, b) => b.lines - a.lines)
}

/** The line that has a text, nearest to where it was; null where none has it. An address may hold its beginning alone. */
export function lineWithText(lines: readonly string[], text: string, near: number): number | null {
  const has = (line: number) => lines[line - 1]?.trim().startsWith(text.trim()) === true
  for (let away = 0; away < lines.length + near; away += 1) {
    if (has(near - away)) return near - away
    if (has(near + away)) return near + away
  }
  return null
}

/** The same beside the agent's name. */
const doubtWords = { certain: '', probable: 'probably', contested: 'one of several agents' } as const

/** How sure it is which agent changed a file. */
export const attributionWords = {
  certain: '',
  probable: 'probably by this agent',
  contested: 'by one of several agents',
} as const
