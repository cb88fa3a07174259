import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, bullets, indentText } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { escapeLineBreaks, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { changedFiles, countsInWords, linesInWords } from '../../track/cli/changes.ts'

type SessionListRow = OutputOf<'sessions'>['sessions'][number]
type TurnListRow = OutputOf<'sessions_show'>['turns'][number]

export const sessions: AnswerView<'sessions'> = ({ sessions: listed }, page) => {
  if (listed.length === 0)
    return 'No session is recorded here. Start with waymark init --hooks; waymark capture status shows the state.'
  const columns = [
    { title: 'client', shrinks: true },
    { title: 'turns', align: 'right' as const },
    { title: 'files', align: 'right' as const },
    { title: 'lines', align: 'right' as const },
    { title: 'began' },
    { title: 'state', shrinks: true },
    { title: 'id' },
  ]
  const rows = listed.map((session) => [
    [session.client, session.model].filter((part) => part !== null).join(' '),
    String(session.turns),
    String(session.files),
    linesInWords(session),
    formatAge(session.started_at, page.now),
    stateOf(session, page),
    page.ink('dim', session.session_id),
  ])
  return table(columns, rows, page)
}

function stateOf({ status, open_turns, reason, lost }: SessionListRow, { ink }: RenderContext): string {
  const state =
    status === 'open'
      ? ink('cyan', open_turns > 0 ? 'at work' : 'open')
      : `ended${reason === null ? '' : `: ${reason}`}`
  return lost === 0 ? state : `${state}, ${ink('yellow', `${formatCount(lost, 'event')} lost`)}`
}

export const session: AnswerView<'sessions_show'> = ({ session: details, turns, hidden }, page) => {
  const { session_id: id, client, version, model, folder, lost } = details
  const head = [
    `Session ${id} of ${client}${version === null ? '' : ` ${version}`}${model === null ? '' : `, ${model}`}`,
    `${folder}: ${formatCount(details.turns, 'turn')}, ${formatCount(details.files, 'file')}, ${linesInWords(details)}`,
    lost === 0 ? '' : page.ink('yellow', `${formatCount(lost, 'hook event')} lost.`),
  ]
  return blocks(
    head.filter((line) => line !== '').join('\n'),
    ...turns.map((turn) => turnBlock(turn, page)),
    hidden === 0
      ? ''
      : page.ink('dim', `${formatCount(hidden, 'turn')} without changes hidden; --all shows them.`),
  )
}

function turnBlock(turn: TurnListRow, page: RenderContext): string {
  const {
    number,
    turn_id: id,
    agent,
    status,
    files_changed: counts,
    measurement,
    error,
    note,
    tokens,
    items,
    machine,
  } = turn
  const measured =
    status === 'open'
      ? page.ink('cyan', 'at work')
      : measurement === 'unknown' || counts === null
        ? page.ink('yellow', 'changes unknown')
        : `${countsInWords(counts)} (${measurement === 'partial' ? 'measured in part' : measurement})`
  const used = tokens === null ? '' : `, ${tokensInWords(tokens)} (client's word)`
  const listed =
    items === null ? '' : `, ${items.done} of ${items.total} of its to-do list done (claimed by the client)`
  const where = machine === null ? '' : ` on ${machine}`
  const lines = [
    `${page.ink('bold', `Turn ${number}`)} ${page.ink('dim', id)} ${agent}${where}, ${formatAge(turn.started_at, page.now)}: ${measured}${used}${listed}`,
    error === null ? '' : page.ink('red', `Failed: ${error}`),
    turn.undone ? `Undone ${formatAge(turn.undone.undone_at, page.now)} by ${turn.undone.author}.` : '',
    note ?? '',
    turn.prompt === null ? '' : page.ink('dim', `"${turn.prompt}"`),
  ]
  const files = changedFiles(
    turn.changes.map(({ with: others, lines: ownership, ...change }) => ({
      ...change,
      ...(others && {
        with: others.map(({ agent: name, id: taskId }) => ({ agent: name, task_id: taskId })),
      }),
      ...(ownership === 'all' && { lines: ownership }),
    })),
    page,
  )
  const reformatted = turn.changes.filter((change) => change.reformatted).map(({ path }) => path)
  const rest = [
    turn.outside.length === 0
      ? ''
      : `Changed meanwhile by a person or an unrecorded tool: ${turn.outside.join(', ')}`,
    ...turn.contested.map(({ path, candidates }) => `${path} is probably by ${candidates.join(', ')}`),
    reformatted.length === 0 ? '' : `Reformatted besides: ${reformatted.join(', ')}`,
    turn.unfound.length === 0 ? '' : `Reported, but unchanged at the end: ${turn.unfound.join(', ')}`,
    ...uncertainChangesLines(turn),
    ...turn.notes,
  ].filter((line) => line !== '')
  return [lines.filter((line) => line !== '').join('\n'), indentText(files), indentText(bullets(rest))]
    .filter((part) => part.trim() !== '')
    .join('\n')
}

/** Why files are only probably its own. Those that others wrote in too say so beside their names. */
function uncertainChangesLines({ changes }: TurnListRow): readonly string[] {
  const alone = changes.filter(
    ({ attribution, with: others = [] }) => attribution !== 'certain' && others.length === 0,
  )
  const paths = (isReported: boolean) =>
    alone.filter(({ reported = false }) => reported === isReported).map(({ path }) => escapeLineBreaks(path))
  const [silent, between] = [paths(false), paths(true)]
  return [
    silent.length === 0
      ? ''
      : `Probable, because no edit tool reported it: ${silent.join(', ')}. A command of the turn wrote it, or somebody else did.`,
    between.length === 0
      ? ''
      : `Probable, because it also changed between the reported edits: ${between.join(', ')}`,
  ]
}

function tokensInWords({ input, output }: NonNullable<TurnListRow['tokens']>): string {
  return [input === null ? [] : `${input} tokens in`, output === null ? [] : `${output} out`]
    .flat()
    .join(', ')
}

export const sessionForgotten: AnswerView<'sessions_forget'> = (answer, { ink }) =>
  answer.forgotten
    ? `${ink('green', 'Deleted')} the texts of session ${answer.session_id}: ${formatCount(answer.prompts, 'prompt')}, line hashes of ${formatCount(answer.changes, 'change')}.`
    : `No texts are kept of session ${answer.session_id}. Nothing changed.`
