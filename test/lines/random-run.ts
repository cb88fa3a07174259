import { lines as linesOf, openStory, type Story } from './story.ts'

/** What became of all lines at the end of a random run. */
export interface RunResult {
  readonly lines: number
  /** Lines of agents that nobody is named for, or outside. */
  readonly missed: readonly string[]
  /** Lines of one agent given to another. */
  readonly wrong: readonly string[]
  /** Lines of persons given to an agent. */
  readonly stolen: readonly string[]
  readonly story: readonly string[]
}

function generator(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.abs(state) % below
  }
}

const files = ['f', 'g', 'h']

/** What anybody may write anywhere. */
const phrases = [
  'return result',
  'try again later',
  'end of the part',
  'const found = null',
  'break out of it',
  'done',
  '}',
  '',
]

export interface RunOptions {
  /** How many of ten lines are one of the phrases, which name no writer. */
  readonly phrases?: number
}

/** Attempts and a person's work in a random order, every line with a text of its own that names its writer. */
export async function randomRun(
  seed: number,
  steps: number,
  { phrases: common = 0 }: RunOptions = {},
): Promise<RunResult> {
  const s = await openStory()
  const below = generator(seed)
  const story: string[] = []
  const main = s.git('branch', '--show-current').trim()
  s.git('branch', 'other')
  let written = 0
  let attempts = 0
  const now = () => files.filter((file) => exists(s, file))
  const edit = (writer: string) => {
    const there = now()
    const file = there[below(there.length)] ?? 'f'
    // What git was told may have taken the last one away.
    const rows = there.length === 0 ? [] : s.read(file).split('\n').slice(0, -1)
    for (let more = 1 + below(3); more > 0; more -= 1) {
      const at = below(rows.length + 1)
      const own = linesOf(writer, ...Array.from({ length: 1 + below(4) }, () => ++written))
      const fresh = own.map((line) =>
        common > 0 && below(10) < common ? (phrases[below(phrases.length)] ?? line) : line,
      )
      const gone = below(3) === 0 ? 1 : 0
      rows.splice(at, gone, ...fresh)
    }
    if (below(3) === 0 && rows.length > 8) rows.splice(below(rows.length), 1)
    s.write(file, rows.map((row) => `${row}\n`).join(''))
  }
  const tried = (...words: string[]) => {
    try {
      s.git(...words)
      return true
    } catch {
      return false
    }
  }
  const isDirty = () => s.git('status', '--porcelain', '--untracked-files=no').trim() !== ''
  const commit = () => tried('add', '-A', '--', ...now()) && tried('commit', '-qam', `step ${story.length}`)
  const elsewhere = () => (s.git('branch', '--show-current').trim() === main ? 'other' : main)
  const undo = (word: string) => tried(word, '--abort')
  const clean = (work: () => void) => () => {
    if (isDirty()) commit()
    work()
  }
  const moves: Readonly<Record<string, () => void>> = {
    commit,
    amend: () => {
      if (Number(s.git('rev-list', '--count', 'HEAD')) > 3) tried('commit', '-qa', '--amend', '-m', 'amended')
    },
    switch: clean(() => tried('checkout', '-q', elsewhere())),
    merge: clean(() => tried('merge', '-q', '--no-edit', elsewhere()) || undo('merge')),
    squash: clean(() => {
      if (tried('merge', '-q', '--squash', elsewhere())) commit()
      else tried('reset', '-q', '--hard')
    }),
    pick: clean(() => tried('cherry-pick', elsewhere()) || undo('cherry-pick')),
    rebase: clean(() => tried('rebase', '-q', elsewhere()) || undo('rebase')),
    part: () => {
      const file = now()[below(now().length)] ?? 'f'
      if (tried('add', '--', file)) tried('commit', '-qm', `part ${story.length}`)
    },
    rename: () => {
      const free = files.find((file) => !exists(s, file))
      const file = now()[below(now().length)] ?? 'f'
      if (free !== undefined) tried('mv', file, free)
    },
    revert: clean(() => tried('revert', '--no-edit', 'HEAD') || undo('revert')),
    fetch: clean(() => tried('checkout', '-q', elsewhere(), '--', now()[0] ?? 'f')),
    stash: () => {
      if (isDirty() && tried('stash', '-q')) tried('stash', 'pop', '-q')
    },
    soft: () => {
      if (Number(s.git('rev-list', '--count', '--first-parent', 'HEAD')) < 6) return
      if (tried('reset', '-q', '--soft', 'HEAD~2')) commit()
    },
    indent: () => {
      const [file] = now()
      if (file !== undefined) s.write(file, s.read(file).replace(/^(?=.)/gm, ' '))
    },
  }
  const names = Object.keys(moves)
  // What an agent itself brings back in these ways counts as its own work, also where it is older than the record.
  const ofAgents = names.filter((name) => !['revert', 'fetch'].includes(name))
  const move = (among = names) => {
    const name = among[below(among.length)] ?? 'commit'
    story.push(name)
    moves[name]?.()
  }
  for (let step = 0; step < steps; step += 1) {
    const who = below(4)
    if (who < 2) {
      attempts += 1
      const agent = `a${attempts}-`
      story.push(`attempt ${agent}`)
      await s.attempt(agent, () => {
        edit(agent)
        for (let more = below(3); more > 0; more -= 1) {
          move(ofAgents)
          if (below(2) === 0) edit(agent)
        }
      })
    } else if (who === 2) {
      story.push('person')
      edit('p')
    } else move()
  }
  return { ...(await judged(s, now())), story }
}

function exists(s: Story, file: string): boolean {
  try {
    s.read(file)
    return true
  } catch {
    return false
  }
}

async function judged(s: Story, there: readonly string[]): Promise<Omit<RunResult, 'story'>> {
  const missed: string[] = []
  const wrong: string[] = []
  const stolen: string[] = []
  let count = 0
  for (const file of there) {
    for (const row of await s.whose(file)) {
      const [word = '', who = '', how = ''] = row.split(' ')
      // A phrase tells nobody who wrote it.
      if (!/^(a\d+-|p)\d+$|^(base|other)$/.test(word)) continue
      count += 1
      const writer = /^(a\d+-)\d+$/.exec(word)?.[1]
      const isAgent = /^a\d+-$/.test(who)
      if (writer === undefined) {
        if (isAgent) stolen.push(`${file}: ${row}`)
      } else if (isAgent && who !== writer) wrong.push(`${file}: ${row}`)
      else if (!isAgent) missed.push(`${file}: ${word} ${who} ${how}`)
    }
  }
  return { lines: count, missed, wrong, stolen }
}
