import { describeProjectEvent } from '../../events/domain/event-kinds.ts'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { gateSteps, isAllDone, type MissionOfStatus } from '../../gate/cli/run.ts'
import { needsYouText } from '../../inbox/domain/inbox-item.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import {
  blocks,
  cutNote,
  indentText,
  pairs,
  section,
  statusWord,
  warnings,
} from '../../surfaces/cli/render/parts.ts'
import { table, twoColumns } from '../../surfaces/cli/render/table.ts'
import { clockTime, dayText, formatAge, timeOfDay, withPerson } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { missionTable } from '../../track/cli/mission.ts'
import { verdictCell } from '../../track/cli/verdict.ts'
import { leftWorkText } from '../../track/domain/mission.ts'

export const status: AnswerView<'status'> = (answer, page) => {
  const { missions, waiting } = answer
  return blocks(
    waiting === 0 ? `Nothing needs you.${othersText(answer)}` : page.ink('yellow', waitingText(answer, page)),
    missions.length === 0 && answer.events <= 1
      ? section('First steps', twoColumns([agentStep(page), ...firstSteps], page), page)
      : '',
    section('Running now', runningTable(answer.running, page), page),
    cutNote(answer.running.length, answer.running_total, '--limit shows more.'),
    section('Open missions', missionTable(missions, page), page),
    cutNote(missions.length, answer.missions_total, 'waymark mission list shows the others.'),
    pairs(
      [
        ['plan', planLine(answer)],
        ['next', nextSteps(answer)],
        ['sent back', sentBackLines(answer)],
        ['left', leftLines(answer)],
        ['not landed', notLandedLine(answer.plan)],
        ['sessions', answer.sessions === 0 ? '' : `${answer.sessions} recorded: waymark sessions`],
        ['project', answer.project],
        ['record', recordLine(answer)],
        ['measured by', answer.witness ?? 'the machines of the agents'],
      ],
      page,
    ),
    warnings([...ownWorkNotes(answer), ...answer.warnings], page),
  )
}

/** Missions whose gate asks for an approval that the person cannot give. */
function ownWorkNotes({ missions }: OutputOf<'status'>): readonly string[] {
  return missions.flatMap(({ name, gates }) =>
    gates
      .filter(({ is_own_work: isOwn }) => isOwn)
      .map(
        ({ run_id: id, process_name: process }) =>
          `You did part of the work of "${name}". ${process} asks a person to approve it, and nobody can approve their own work. To end the run without an approval: waymark run cancel ${id} "<reason>"`,
      ),
  )
}

function waitingText(answer: OutputOf<'status'>, page: RenderContext): string {
  const { waiting, waiting_since } = answer
  const since = waiting_since === null ? '' : `, the oldest opened ${formatAge(waiting_since, page.now)}`
  return `${formatCount(waiting, 'item')} ${waiting === 1 ? 'needs' : 'need'} you${since}: waymark inbox${othersText(answer)}`
}

/** The items that only other people can answer. */
function othersText({ waiting, waiting_for_others: others }: OutputOf<'status'>): string {
  if (others === 0) return ''
  const items = waiting === 0 ? formatCount(others, 'item') : `${others} more`
  return `${waiting === 0 ? ' ' : '. '}${items} ${others === 1 ? 'waits' : 'wait'} for other people or machines${waiting === 0 ? ': waymark inbox' : '.'}`
}

function agentStep({ firstPrompt }: RenderContext): readonly [string, string] {
  return firstPrompt === undefined
    ? ['waymark init', 'Set up your agents, and see what to say to them']
    : ['Say to your agent', firstPrompt]
}

const firstSteps = [
  ['waymark task add "<title>"', 'Or plan a task yourself'],
  ['waymark import plan.md', 'Or import a plan: headings are phases, lists are tasks'],
  ['waymark open', 'Open the dashboard'],
  ['waymark demo', 'Play a recorded day'],
] as const

function recordLine(answer: OutputOf<'status'>): string {
  const database = answer.database
  if (answer.recorded !== true) return `${database}, created when something is recorded`
  return `${database}, ${answer.events} log ${answer.events === 1 ? 'entry' : 'entries'}`
}

type PlanCounts = OutputOf<'status'>['plan']

function planLine({ plan, running_total: running }: OutputOf<'status'>): string {
  const { ready, in_progress, done, done_waiting: waiting, dropped, tasks } = plan
  if (tasks + dropped === 0) return ''
  // Others are claimed, or marked by hand: the missions' table counts a claimed task as one to do.
  const atWork =
    running < in_progress
      ? `${in_progress - running} claimed or set in progress, ${running} running`
      : `${in_progress} in progress`
  const without = dropped === 0 ? '' : `, ${dropped} dropped`
  return `${ready} ready, ${atWork}, ${done} done${needsYouText(waiting)} of ${formatCount(tasks, 'task')}${without}: waymark plan show`
}

/** What to do for each mission whose tasks are all done, then for the tasks that are ready. */
function nextSteps({ plan: { ready, in_progress }, missions, waiting }: OutputOf<'status'>): string {
  const ofMissions = missions.flatMap((mission) => {
    const step = missionStep(mission)
    return step === '' ? [] : missions.length === 1 ? step : `"${mission.name}": ${step}`
  })
  // What needs a person comes first, and stands above.
  const isReady = in_progress + waiting === 0 && ready > 0
  return [
    ...ofMissions,
    ...(isReady
      ? ['tell your agent to go on; by hand: waymark task next, then waymark task start <task>']
      : []),
  ].join('\n')
}

function missionStep(mission: MissionOfStatus): string {
  const { mission_id: id, gates } = mission
  const [gate] = gates
  if (!isAllDone(mission))
    return gate?.sent_back && mission.open_tasks === 0
      ? `${gateReturnText(gate)}Tell your agent to go on.`
      : ''
  if (gate === undefined)
    return `${doubtsText(mission)}waymark mission complete ${id} --status completed --summary "<what was done>"`
  const steps = gateSteps(mission)
  if (steps.length === 0) return ''
  const missing = gate.missing ?? []
  const command = `${goOnText(gate) || (missing.length > 0 ? 'Then: ' : '')}${steps.join(', or ')}`
  if (missing.length > 0) return `${blockedText(missing)}\n${command}`
  const check =
    gate.missing === null ? `\nwaymark run show ${gate.run_id} says what is missing, if anything` : ''
  return `${doubtsText(mission)}${command}${check}`
}

/** What blocks the next events of a run, as `waymark run show` has it. */
function blockedText(missing: NonNullable<MissionOfStatus['gates'][number]['missing']>): string {
  return missing
    .map(({ name, reason, fix }) => `Blocked by ${name}: ${reason.replace(/[.]$/, '')}. ${fix}`.trimEnd())
    .join('\n')
}

function doubtsText({ not_proven: doubts, lost }: MissionOfStatus): string {
  const tasks = (count: number) => `${formatCount(count, 'task')} ${count === 1 ? 'is' : 'are'}`
  return [
    ...(doubts === null ? [] : [`${tasks(doubts.tasks)} not proven: waymark review ${doubts.first}\n`]),
    ...(lost === 0 ? [] : [`${tasks(lost)} lost: waymark landed\n`]),
  ].join('')
}

/** What comes first: what a person asked for, or what the state is for. */
function goOnText(gate: MissionOfStatus['gates'][number]): string {
  // Where nothing is missing, what the state is for is done.
  if (!gate.sent_back && gate.missing?.length === 0) return ''
  if (!gate.sent_back) return gate.step ? `${gate.step.replace(/[.]$/, '')}, then:\n` : ''
  return `${gateReturnText(gate)}Tell your agent to go on, then:\n`
}

function gateReturnText({ sent_back: back, process_name: name }: MissionOfStatus['gates'][number]): string {
  if (back === null) return ''
  const why = back.reason === null ? '' : `: “${back.reason}”`
  return `${back.author} sent ${name} back${why}. `
}

function sentBackLines({ sent_back: tasks }: OutputOf<'status'>): string {
  return tasks
    .map(({ task_id: id, name, mission_ended: isOfEnded, agent_name: agent, person }) => {
      if (isOfEnded)
        return `"${name}" of an ended mission: waymark task start ${id} --mission-id none, or waymark task drop ${id} "<reason>"`
      return person === null
        ? `"${name}": tell your agent to go on; by hand: waymark task start ${id}`
        : `"${name}": tell ${person}, whose agent ${agent} did it`
    })
    .join('\n')
}

function leftLines({ completed_with_work_left: missions }: OutputOf<'status'>): string {
  return missions
    .map(
      ({ mission_id: id, name, left }) =>
        `"${name}" is completed, with ${leftWorkText(left)}: waymark show ${id}`,
    )
    .join('\n')
}

function notLandedLine({ not_landed: notLanded, lost }: PlanCounts): string {
  if (notLanded === 0) return ''
  return `${formatCount(notLanded, 'done task')}${lost === 0 ? '' : `, ${lost} lost`}: waymark landed`
}

function runningTable(running: OutputOf<'status'>['running'], page: RenderContext): string {
  const columns = [
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'started' },
    { title: 'last call' },
    { title: 'id' },
  ]
  const rows = running.map((task) => [
    task.name,
    task.agent_name,
    formatAge(task.started_at, page.now),
    task.stale
      ? page.ink('red', `stale, ${formatAge(task.last_call_at, page.now)}`)
      : formatAge(task.last_call_at, page.now),
    page.ink('dim', task.task_id),
  ])
  return table(columns, rows, page)
}

const columns = [
  ['ready', 'Ready'],
  ['active', 'In progress'],
  ['review', 'Needs review'],
  ['done', 'Recently done'],
] as const

export const board: AnswerView<'board'> = (answer, page) => {
  const totals: Partial<Record<keyof typeof answer.columns, number>> = answer.totals
  const parts = columns.map(([key, title]) => {
    const cards = answer.columns[key]
    const total = totals[key] ?? cards.length
    return blocks(
      section(`${title} (${total})`, cardTable(cards, page), page),
      cutNote(cards.length, total, '--limit shows more.'),
    )
  })
  const { blocked } = answer.totals
  const hidden =
    blocked === 0
      ? ''
      : page.ink(
          'dim',
          `${formatCount(blocked, 'task')} ${blocked === 1 ? 'waits' : 'wait'} for others: waymark plan show`,
        )
  return (
    blocks(...parts, hidden) ||
    'The board is empty. Add a task with waymark task add "<title>", or import a plan with waymark import <file>.'
  )
}

function cardTable(cards: OutputOf<'board'>['columns']['done'], page: RenderContext): string {
  const titles = [
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'verdict' },
    { title: 'agent' },
    { title: 'mission', shrinks: true },
    { title: 'since' },
    { title: 'id' },
  ]
  const rows = cards.map((card) => [
    card.title,
    [
      // The heading has the usual ones.
      ['SUCCESS', 'TO_DO', 'IN_PROGRESS'].includes(card.outcome) ? '' : statusWord(card.outcome, page),
      card.is_unmeasured === true ? 'marked by hand' : '',
      card.is_undone ? 'undone' : '',
      isAgain(card) ? 'to do again' : '',
    ]
      .filter((word) => word !== '')
      .join(', '),
    // A task that was sent back has the verdict of its last attempt.
    card.outcome === 'TO_DO' || card.outcome === 'IN_PROGRESS'
      ? ''
      : verdictCell(card.measured?.verdict, card.accepted_by, page),
    card.agent_name ?? '',
    page.width < 100 ? '' : (card.mission_name ?? ''),
    formatAge(
      isAgain(card) ? card.updated_at : (card.completed_at ?? '') || (card.started_at ?? ''),
      page.now,
    ),
    page.ink('dim', card.id),
  ])
  return table(titles, rows, page)
}

/** Whether a task was done, and is to do again: a person sent it back or took it up again. */
function isAgain({ outcome, measured }: OutputOf<'board'>['columns']['done'][number]): boolean {
  return outcome === 'TO_DO' && measured?.verdict != null
}

/** Each setting with its value, meaning and choices. */
export const settings: AnswerView<'setting_list'> = (answer, { ink }) =>
  blocks(
    ...answer.settings.map((setting) => {
      const [name, value] = [setting.name, setting.value]
      const choices = [...setting.values, ...(setting.others === null ? [] : [setting.others])].join(' · ')
      return [
        `${name}: ${ink('bold', value)}`,
        indentText(setting.meaning),
        indentText(ink('dim', `Values: ${choices}`)),
      ].join('\n')
    }),
    'Set one: waymark setting set <setting> <value>',
  )

/** The approved commands of guards, with their approver and pinned files, then those of other machines and the rejected. */
export const commandList: AnswerView<'command_list'> = (answer, page) => {
  const { commands, approved_elsewhere: elsewhere, refused } = answer
  if (commands.length + elsewhere.length + refused.length === 0)
    return 'No command is approved. Commands of guards appear in the inbox: waymark inbox'
  const lines = commands.map((command) => {
    const files = command.files.map(({ path, sha256 }) => `${path}  ${sha256?.slice(0, 12) ?? 'none'}`)
    const stands =
      command.as_approved === true ? '' : '  changed since then: it does not run without a new approval'
    return [
      `${page.ink('bold', command.hash.slice(0, 12))}  ${command.run}${page.ink('yellow', stands)}`,
      indentText(`by ${command.author} ${formatAge(command.created_at, page.now)}, in ${command.folder}`),
      indentText(files.length === 0 ? 'no pinned files' : files.join('\n')),
    ].join('\n')
  })
  const others = elsewhere.map(({ hash, run, author, folder, created_at: createdAt }) =>
    [
      `${page.ink('bold', hash.slice(0, 12))}  ${run}`,
      indentText(`by ${author} ${formatAge(createdAt, page.now)}, in ${folder}`),
      indentText(
        'it runs on the machine that asked, if that trusts the server (waymark connect --trust-commands)',
      ),
    ].join('\n'),
  )
  const rejected = refused.map(({ hash, run, author, reason, folder, created_at: createdAt }) =>
    [
      `${page.ink('bold', hash.slice(0, 12))}  ${run}  ${page.ink('yellow', 'rejected')}${reason === '' ? '' : `: ${reason}`}`,
      indentText(`by ${author} ${formatAge(createdAt, page.now)}, in ${folder}`),
    ].join('\n'),
  )
  return blocks(
    ...lines,
    ...others,
    ...rejected,
    'Revoke an approval or a rejection: waymark command revoke <hash> "<reason>"',
  )
}

export function doctor({ checks }: Pick<OutputOf<'doctor'>, 'checks'>, { ink }: RenderContext): string {
  const widest = Math.max(0, ...checks.map((check) => check.check.length))
  const lines = checks.map((check) => {
    const mark = check.ok ? ink('green', 'ok  ') : ink('yellow', 'look')
    return `${mark}  ${check.check.padEnd(widest)}  ${check.finding}`
  })
  return lines.join('\n')
}

/** The log by day: actor, action, object and number of each entry. */
export const log: AnswerView<'log'> = (answer, page) => {
  const { events, checks = [] } = answer
  if (events.length === 0) return 'Nothing is recorded yet.'
  const titles = new Map(Object.entries(answer.titles))
  const hasGap = events.some(({ seq }, at) => at > 0 && seq - (events[at - 1]?.seq ?? 0) > 1)
  const days = Map.groupBy(events, ({ happened_at }) => dayText(happened_at, page.now))
  return blocks(
    ...[...days].map(([day, entries]) =>
      section(day, entries.map((event) => logEntryLine(event, titles, page)).join('\n'), page),
    ),
    hasGap
      ? page.ink('dim', 'Missing numbers are entries about changed lines: waymark export has them.')
      : '',
    checks.length > 0 ? doctor({ checks }, page) : '',
  )
}

const lateAfterMs = 60_000

function logEntryLine(
  event: OutputOf<'log'>['events'][number],
  titles: ReadonlyMap<string, string>,
  { ink }: RenderContext,
): string {
  // The operation spreads a log entry into kind and body; this puts it together again.
  const body = { ...event.body, kind: event.kind } as NewProjectEvent
  // The inbox names the opener too: an agent whose work a person recorded, or Waymark.
  const opener = body.kind === 'inbox.opened' ? body.item.openedBy : event.actor
  const who = withPerson(opener, opener === event.actor ? event.person : null)
  const isPerson = event.actor_kind === 'person' && opener === event.actor
  const actor = isPerson ? ink('bold', who) : ink('cyan', who)
  const isLate = Date.parse(event.recorded_at) - Date.parse(event.happened_at) >= lateAfterMs
  const late = isLate ? `recorded ${clockTime(event.recorded_at)}, ` : ''
  const time = ink('dim', timeOfDay(event.happened_at))
  return `  ${time}  ${actor} ${describeProjectEvent(body, titles)}  ${ink('dim', `${late}#${event.seq}`)}`
}
