import { measuredFiles } from '../../../inbox/cli/inbox.ts'
import type { OutputOf } from '../../../kernel/operations/catalog.ts'
import { formatCount, plainLine } from '../../../kernel/text.ts'
import { noticeHeading } from '../../../notifications/domain/notice.ts'
import { shortRunIds } from '../render/run-ids.ts'
import { formatAge, formatDuration } from '../render/text.ts'
import type { TextStyle } from '../terminal.ts'
import { type ScreenAction, type TopCard, verbsOf } from './actions.ts'

/** The data of the screen, as last read. */
export interface ScreenData {
  readonly cards: readonly TopCard[]
  readonly work: OutputOf<'status'>
  readonly missions: OutputOf<'list_missions'>
}

/** The state of the person's input. */
export interface ScreenState {
  /** The selected card; null for the first. */
  readonly selected: string | null
  /** A prompt for text. */
  readonly asking: { readonly verb: ScreenAction; readonly about: string; readonly words: string } | null
  /** The result of the last verb, or a read error. */
  readonly message: { readonly text: string; readonly isRefusal: boolean } | null
}

export interface TextSpan {
  readonly text: string
  readonly style?: TextStyle
  readonly isInverse?: boolean
}

/** A line of the screen, cut at its width. */
export type ScreenLine = readonly TextSpan[]

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

interface ScreenOptions {
  readonly project: string
  readonly now: number
}

/** The lines of a whole screen, exactly as many as its height, without control characters. */
export function screenLines(
  data: ScreenData | null,
  state: ScreenState,
  { columns, rows, project, now }: ScreenSize & ScreenOptions,
): readonly ScreenLine[] {
  const head = [screenHeader(data, project, now)]
  const foot = screenFooter(data, state)
  const room = Math.max(0, rows - head.length - foot.length)
  if (data === null) return fitScreen([...head, [{ text: 'Reading the record.' }]], foot, rows)
  const card = selectedCard(data, state)
  const detail = card === null ? [] : detailLines(card, columns)
  // The inbox gets half of the remaining lines, and more if the rest needs less.
  const others = [agentLines(data, now), missionLines(data)]
  const wanted = others.map((lines) => lines.length)
  const minInboxRows = Math.max(3, Math.floor((room - detail.length) / 2))
  const inboxRoom = Math.max(
    minInboxRows,
    room - detail.length - wanted.reduce((sum, length) => sum + length, 0),
  )
  const inbox = inboxLines(data, { selected: card?.item_id ?? null, now }, inboxRoom)
  const left = Math.max(0, room - inbox.length - detail.length)
  const [agents = [], missions = []] = others
  const forMissions = Math.min(missions.length, Math.max(3, left - agents.length))
  const body = [
    ...inbox,
    ...detail,
    ...limitLines(agents, left - forMissions),
    ...limitLines(missions, forMissions),
  ]
  return fitScreen([...head, ...body], foot, rows)
}

function fitScreen(
  above: readonly ScreenLine[],
  foot: readonly ScreenLine[],
  rows: number,
): readonly ScreenLine[] {
  const room = Math.max(0, rows - foot.length)
  const empty: readonly ScreenLine[] = Array.from({ length: Math.max(0, room - above.length) }, () => [
    { text: ' ' },
  ])
  return [...above.slice(0, room), ...empty, ...foot].slice(-rows)
}

/** The first lines; the last one counts the others. */
function limitLines(lines: readonly ScreenLine[], room: number): readonly ScreenLine[] {
  if (lines.length <= room) return lines
  if (room < 2) return []
  return [...lines.slice(0, room - 1), [{ text: `  and ${lines.length - room + 1} more`, style: 'dim' }]]
}

export function selectedCard(
  { cards }: ScreenData,
  { selected }: Pick<ScreenState, 'selected'>,
): TopCard | null {
  return cards.find(({ item_id }) => item_id === selected) ?? cards[0] ?? null
}

function screenHeader(data: ScreenData | null, project: string, now: number): ScreenLine {
  const time = new Date(now).toTimeString().slice(0, 8)
  const counts =
    data === null
      ? ''
      : ` · ${data.work.waiting} ${data.work.waiting === 1 ? 'needs' : 'need'} you · ${data.work.running_total} active · ${formatCount(data.work.missions_total, 'mission')}`
  return [{ text: `waymark top · ${safeLine(project)}${counts} · ${time}`, style: 'bold' }]
}

function title(text: string): ScreenLine {
  return [{ text: text.toUpperCase(), style: 'cyan' }]
}

function inboxLines(
  { cards, work }: ScreenData,
  { selected, now }: { readonly selected: string | null; readonly now: number },
  room: number,
): readonly ScreenLine[] {
  const total = work.waiting + work.waiting_for_others
  const head = title('Inbox')
  if (cards.length === 0) return [head, [{ text: '  Nothing needs you.', style: 'green' }]]
  const visible = Math.max(1, room - 1 - (total > cards.length || cards.length > room - 1 ? 1 : 0))
  const at = cards.findIndex(({ item_id }) => item_id === selected)
  const first = Math.max(0, Math.min(at - Math.floor(visible / 2), cards.length - visible))
  const lines = cards
    .slice(first, first + visible)
    .map((card) => cardLine(card, card.item_id === selected, now))
  const rest = total - lines.length
  return [head, ...lines, ...(rest > 0 ? [[{ text: `  and ${rest} more`, style: 'dim' as const }]] : [])]
}

function cardLine(card: TopCard, isSelected: boolean, now: number): ScreenLine {
  const about = card.task_name ?? card.mission_name ?? card.run?.process_name ?? ''
  return [
    { text: isSelected ? '› ' : '  ', style: 'yellow' },
    { text: formatAge(card.opened_at, now).replace(' ago', '').padEnd(7), style: 'dim' },
    { text: kindWords[card.kind].padEnd(12), style: 'yellow' },
    {
      text: safeLine([about, card.reason].filter(Boolean).join(' · ')),
      ...(isSelected && { isInverse: true }),
    },
  ]
}

const kindWords = {
  blocker: 'question',
  review: 'review',
  verdict: 'verdict',
  scope: 'scope',
  approval: 'approval',
  command: 'command',
  stale_attempt: 'stale',
  loss: 'lost files',
} as const satisfies Record<TopCard['kind'], string>

const maxDetail = 5

/** The selected card with its whole request. */
function detailLines(card: TopCard, columns: number): readonly ScreenLine[] {
  const width = Math.max(10, columns - 4)
  const request = card.request
  const texts = [
    `${noticeHeading({ kind: card.kind, who: card.opened_by })}${card.opened_by === 'waymark' ? '' : `, says ${card.opened_by}`}: ${card.reason}`,
    request?.kind === 'command' ? `It would run: ${request.run} in ${request.folder}` : '',
    request?.kind === 'decision' ? shortRunIds(`Run ${card.run_id} in "${request.state}"`) : '',
    card.measured && card.kind === 'verdict' ? `Measured: ${measuredFiles(card.measured)}` : '',
    card.paths_total > 0 && card.kind !== 'verdict'
      ? `${formatCount(card.paths_total, 'file')}: ${card.paths.join(', ')}`
      : '',
    card.claimed
      ? `${card.claimed_by ?? 'The agent'}${card.attempt_status === 'failed' ? ' failed, and' : ''} says: ${card.claimed}`
      : '',
    card.unchanged_claims.length > 0 && card.kind !== 'verdict'
      ? `✗ Claimed but unchanged: ${card.unchanged_claims.join(', ')}`
      : '',
    card.workaround ? `Workaround: ${card.workaround}` : '',
  ]
  const lines = texts.filter(Boolean).flatMap((text) => wrapText(safeLine(text), width))
  const visible =
    lines.length > maxDetail
      ? [...lines.slice(0, maxDetail - 1), `… the rest: waymark inbox, ${card.item_id}`]
      : lines
  return visible.map((text) => [{ text: `    ${text}` }])
}

/** Wraps a text to a width, between words if possible. */
function wrapText(text: string, width: number): readonly string[] {
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

function agentLines({ work }: ScreenData, now: number): readonly ScreenLine[] {
  const head = title('At work')
  if (work.running.length === 0) return [head, [{ text: '  No agent is active.', style: 'dim' }]]
  return [
    head,
    ...work.running.map((attempt): ScreenLine => {
      const since = Math.max(0, Math.round((now - Date.parse(attempt.started_at)) / 1000))
      const where = attempt.machine === null ? '' : ` on ${attempt.machine.name}`
      const word = `last call ${formatAge(attempt.last_call_at, now)}`
      return [
        { text: `  ${formatDuration(since).padEnd(10)}`, style: 'dim' },
        { text: safeLine(attempt.agent_name), style: 'green' },
        { text: safeLine(` · ${attempt.name}${where}`) },
        { text: ` (${word}${attempt.stale ? ', stale' : ''})`, style: attempt.stale ? 'red' : 'dim' },
      ]
    }),
  ]
}

function missionLines({ missions }: ScreenData): readonly ScreenLine[] {
  const head = title('Missions')
  if (missions.missions.length === 0) return [head, [{ text: '  No mission is open.', style: 'dim' }]]
  return [
    head,
    ...missions.missions.map((mission): ScreenLine => {
      const { current_phase: phase, total_phases: phases } = mission
      const { done_tasks: done, open_tasks: open, to_do_tasks: toDo } = mission
      const blockers = mission.open_blockers === 0 ? '' : `, ${formatCount(mission.open_blockers, 'blocker')}`
      return [
        { text: `  ${progressBar(done, done + open + toDo)} `, style: 'cyan' },
        { text: safeLine(mission.name) },
        {
          text: ` · ${phases === 0 ? '' : `phase ${Math.min(phase, phases)} of ${phases}, `}${done} done, ${open} running, ${toDo} to do${blockers}`,
          style: 'dim',
        },
      ]
    }),
  ]
}

const barWidth = 8

/** The done tasks of all tasks. */
function progressBar(done: number, all: number): string {
  const filled = all === 0 ? 0 : Math.floor((barWidth * done) / all)
  return '█'.repeat(filled).padEnd(barWidth, '░')
}

function screenFooter(data: ScreenData | null, state: ScreenState): readonly ScreenLine[] {
  const { asking, message } = state
  if (asking !== null) {
    return [
      [
        { text: `${asking.verb.asks ?? ''}: `, style: 'bold' },
        { text: `${lastCharacters(safeLine(asking.words))}█` },
      ],
      [{ text: 'Enter sends · Esc cancels', style: 'dim' }],
    ]
  }
  const card = data && selectedCard(data, state)
  const verbs = card ? verbsOf(card).map(({ key, label }) => `${key} ${label}`) : []
  const keys = ['j k move', ...verbs, 'q quit'].join(' · ')
  return [
    [
      message === null
        ? { text: ' ' }
        : { text: safeLine(message.text), style: message.isRefusal ? 'red' : 'green' },
    ],
    [{ text: safeLine(keys), style: 'dim' }],
  ]
}

/** The prompt; a long text shows its end. */
function lastCharacters(text: string): string {
  return text.length > 50 ? `…${text.slice(-50)}` : text
}

const maxInputLength = 2_000

function safeLine(text: string): string {
  const line = plainLine(text, maxInputLength)
  // The text may end in a space.
  return text.endsWith(' ') && !line.endsWith(' ') ? `${line} ` : line
}
