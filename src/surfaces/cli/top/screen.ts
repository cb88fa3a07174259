import type { OutputOf } from '../../../kernel/operations/catalog.ts'
import { counted, plainLine } from '../../../kernel/text.ts'
import { noticeWords } from '../../../notifications/domain/notice.ts'
import { age, lasting } from '../render/text.ts'
import type { Style } from '../terminal.ts'
import { type Card, type Verb, verbsOf } from './verbs.ts'

/** What the screen shows, as it was last read. */
export interface Standing {
  readonly cards: readonly Card[]
  readonly work: OutputOf<'status'>
  readonly missions: OutputOf<'list_missions'>
}

/** What the person at the screen does. */
export interface Doing {
  /** The card that is looked at; null for the first. */
  readonly selected: string | null
  /** Words are asked for. */
  readonly asking: { readonly verb: Verb; readonly about: string; readonly words: string } | null
  /** What came of the last verb, or why nothing can be read. */
  readonly said: { readonly text: string; readonly isRefusal: boolean } | null
}

export interface Span {
  readonly text: string
  readonly style?: Style
  readonly isInverse?: boolean
}

/** A line of the screen. It is cut where the screen ends. */
export type Line = readonly Span[]

export interface Screen {
  readonly columns: number
  readonly rows: number
}

interface Showing {
  readonly project: string
  readonly now: number
}

/** The lines of a whole screen, exactly as many as it has. No text in them steers the terminal. */
export function linesOf(
  standing: Standing | null,
  doing: Doing,
  { columns, rows, project, now }: Screen & Showing,
): readonly Line[] {
  const head = [headLine(standing, project, now)]
  const foot = footLines(standing, doing)
  const room = Math.max(0, rows - head.length - foot.length)
  if (standing === null) return fitted([...head, [{ text: 'Reading the record.' }]], foot, rows)
  const card = selectedCard(standing, doing)
  const detail = card === null ? [] : detailLines(card, columns)
  // The inbox takes half of what is left, and more where nothing else is shown.
  const others = [agentLines(standing, now), missionLines(standing)]
  const wanted = others.map((lines) => lines.length)
  const most = Math.max(3, Math.floor((room - detail.length) / 2))
  const inboxRoom = Math.max(most, room - detail.length - wanted.reduce((sum, length) => sum + length, 0))
  const inbox = inboxLines(standing, { selected: card?.hold_id ?? null, now }, inboxRoom)
  const left = Math.max(0, room - inbox.length - detail.length)
  const [agents = [], missions = []] = others
  const forMissions = Math.min(missions.length, Math.max(3, left - agents.length))
  const body = [...inbox, ...detail, ...cut(agents, left - forMissions), ...cut(missions, forMissions)]
  return fitted([...head, ...body], foot, rows)
}

function fitted(above: readonly Line[], foot: readonly Line[], rows: number): readonly Line[] {
  const room = Math.max(0, rows - foot.length)
  const empty: readonly Line[] = Array.from({ length: Math.max(0, room - above.length) }, () => [
    { text: ' ' },
  ])
  return [...above.slice(0, room), ...empty, ...foot].slice(-rows)
}

/** The first lines, the last of which says how many more there are. */
function cut(lines: readonly Line[], room: number): readonly Line[] {
  if (lines.length <= room) return lines
  if (room < 2) return []
  return [...lines.slice(0, room - 1), [{ text: `  and ${lines.length - room + 1} more`, style: 'dim' }]]
}

export function selectedCard({ cards }: Standing, { selected }: Pick<Doing, 'selected'>): Card | null {
  return cards.find(({ hold_id }) => hold_id === selected) ?? cards[0] ?? null
}

function headLine(standing: Standing | null, project: string, now: number): Line {
  const time = new Date(now).toTimeString().slice(0, 8)
  const counts =
    standing === null
      ? ''
      : ` · ${standing.work.waiting} waiting · ${standing.work.running_total} at work · ${counted(standing.work.missions_total, 'mission')}`
  return [{ text: `waymark top · ${safe(project)}${counts} · ${time}`, style: 'bold' }]
}

function title(text: string): Line {
  return [{ text: text.toUpperCase(), style: 'cyan' }]
}

function inboxLines(
  { cards, work }: Standing,
  { selected, now }: { readonly selected: string | null; readonly now: number },
  room: number,
): readonly Line[] {
  const total = work.waiting
  const head = title('Inbox')
  if (cards.length === 0) return [head, [{ text: '  Nothing waits for you.', style: 'green' }]]
  const shown = Math.max(1, room - 1 - (total > cards.length || cards.length > room - 1 ? 1 : 0))
  const at = cards.findIndex(({ hold_id }) => hold_id === selected)
  const first = Math.max(0, Math.min(at - Math.floor(shown / 2), cards.length - shown))
  const lines = cards
    .slice(first, first + shown)
    .map((card) => cardLine(card, card.hold_id === selected, now))
  const rest = total - lines.length
  return [head, ...lines, ...(rest > 0 ? [[{ text: `  and ${rest} more`, style: 'dim' as const }]] : [])]
}

function cardLine(card: Card, isSelected: boolean, now: number): Line {
  const about = card.task_name ?? card.mission_name ?? card.run?.process_name ?? ''
  return [
    { text: isSelected ? '› ' : '  ', style: 'yellow' },
    { text: age(card.opened_at, now).replace(' ago', '').padEnd(7), style: 'dim' },
    { text: kindWords[card.kind].padEnd(12), style: 'yellow' },
    { text: safe([about, card.reason].filter(Boolean).join(' · ')), ...(isSelected && { isInverse: true }) },
  ]
}

const kindWords = {
  blocker: 'question',
  review: 'review',
  scope: 'scope',
  approval: 'approval',
  command: 'command',
  stale_attempt: 'stale',
} as const satisfies Record<Card['kind'], string>

const mostDetail = 5

/** The card that is looked at: what it is, and whole what is to be answered. */
function detailLines(card: Card, columns: number): readonly Line[] {
  const width = Math.max(10, columns - 4)
  const request = card.request
  const texts = [
    `${noticeWords[card.kind]}, says ${card.opened_by}: ${card.reason}`,
    request?.kind === 'command' ? `It would run: ${request.run} in ${request.folder}` : '',
    request?.kind === 'decision' ? `Run ${card.run_id} in "${request.state}"` : '',
    card.paths_total > 0 ? `${counted(card.paths_total, 'file')}: ${card.paths.join(', ')}` : '',
    card.claimed ? `${card.claimed_by ?? 'The agent'} says: ${card.claimed}` : '',
    card.workaround ? `Meanwhile it did: ${card.workaround}` : '',
  ]
  const lines = texts.filter(Boolean).flatMap((text) => wrapped(safe(text), width))
  const shown =
    lines.length > mostDetail
      ? [...lines.slice(0, mostDetail - 1), `… the rest: waymark inbox, ${card.hold_id}`]
      : lines
  return shown.map((text) => [{ text: `    ${text}` }])
}

/** A text in lines of so many characters, broken between words where there are any. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = text
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width)
    const end = space > width / 2 ? space : width
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return rest === '' ? lines : [...lines, rest]
}

function agentLines({ work }: Standing, now: number): readonly Line[] {
  const head = title('At work')
  if (work.running.length === 0) return [head, [{ text: '  Nobody works now.', style: 'dim' }]]
  return [
    head,
    ...work.running.map((attempt): Line => {
      const since = Math.max(0, Math.round((now - Date.parse(attempt.started_at)) / 1000))
      const where = attempt.edge === null ? '' : ` on ${attempt.edge.name}`
      const word = `heard of ${age(attempt.last_call_at, now)}`
      return [
        { text: `  ${lasting(since).padEnd(10)}`, style: 'dim' },
        { text: safe(attempt.agent_name), style: 'green' },
        { text: safe(` · ${attempt.name}${where}`) },
        { text: ` (${word}${attempt.stale ? ', stale' : ''})`, style: attempt.stale ? 'red' : 'dim' },
      ]
    }),
  ]
}

function missionLines({ missions }: Standing): readonly Line[] {
  const head = title('Missions')
  if (missions.missions.length === 0) return [head, [{ text: '  No mission is open.', style: 'dim' }]]
  return [
    head,
    ...missions.missions.map((mission): Line => {
      const { current_phase: phase, total_phases: phases } = mission
      const { done_tasks: done, open_tasks: open, to_do_tasks: toDo } = mission
      const blockers = mission.open_blockers === 0 ? '' : `, ${counted(mission.open_blockers, 'blocker')}`
      return [
        { text: `  ${bar(phase, phases)} `, style: 'cyan' },
        { text: safe(mission.name) },
        {
          text: ` · phase ${phase} of ${phases}, ${done} done, ${open} running, ${toDo} to do${blockers}`,
          style: 'dim',
        },
      ]
    }),
  ]
}

const barWidth = 8

/** Phases that are over, of all; the one that goes on is not over. */
function bar(phase: number, phases: number): string {
  const over = phases === 0 ? 0 : Math.round((barWidth * Math.max(0, phase - 1)) / phases)
  return '█'.repeat(Math.min(barWidth, over)).padEnd(barWidth, '░')
}

function footLines(standing: Standing | null, doing: Doing): readonly Line[] {
  const { asking, said } = doing
  if (asking !== null) {
    return [
      [{ text: `${asking.verb.asks ?? ''}: `, style: 'bold' }, { text: `${tail(safe(asking.words))}█` }],
      [{ text: 'Enter sends it · Esc leaves', style: 'dim' }],
    ]
  }
  const card = standing && selectedCard(standing, doing)
  const verbs = card ? verbsOf(card).map(({ key, label }) => `${key} ${label}`) : []
  const keys = ['j k move', ...verbs, 'q quit'].join(' · ')
  return [
    [said === null ? { text: ' ' } : { text: safe(said.text), style: said.isRefusal ? 'red' : 'green' }],
    [{ text: safe(keys), style: 'dim' }],
  ]
}

/** What is being written, its end first. */
function tail(text: string): string {
  return text.length > 50 ? `…${text.slice(-50)}` : text
}

const longest = 2_000

function safe(text: string): string {
  const line = plainLine(text, longest)
  // What is being written may end in a space.
  return text.endsWith(' ') && !line.endsWith(' ') ? `${line} ` : line
}
