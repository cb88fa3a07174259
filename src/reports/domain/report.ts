import type { Outcome } from '../../events/domain/project-event.ts'
import { approvalsByEvent } from '../../gate/domain/approvals-by-event.ts'
import type { CommandResult, RunApproval, RunEvent, RunRecord, RunRefusal } from '../../gate/domain/run.ts'
import { type InboxItem, itemOutcome } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { excerpt, formatCount, plainWord } from '../../kernel/text.ts'
import { commentStatus, type ReviewAction, type ReviewComment } from '../../review/domain/review.ts'
import { type ContestedFile, type ReportedChange, sumOfLines } from '../../track/domain/changes.ts'
import { reasonsText } from '../../track/domain/completion.ts'
import { type Landed, landingWords } from '../../track/domain/landed.ts'
import type { Mission } from '../../track/domain/mission.ts'
import { noteForPeople } from '../../track/domain/owner-notes.ts'
import type { Decision, Issue } from '../../track/domain/records.ts'
import { isOutOfScopeNote } from '../../track/domain/scope/scope.ts'
import { type Attempt, outcomeAuthorOf, type Task } from '../../track/domain/task.ts'
import { isDoubted, type Verdict } from '../../track/domain/verdict.ts'
import type { ReportDocument, ReportEntry, ReportSection, TextPart } from './document.ts'
import type { Figures } from './stats.ts'

/** A mission, or one task; its mission is null if it is in none. */
export type ReportSubject =
  | { readonly mission: Mission; readonly task: null }
  | { readonly mission: Mission | null; readonly task: Task }

/** The records of a mission or a task that a report uses. */
export interface ReportRecords {
  readonly subject: ReportSubject
  readonly since: { readonly startsAt: number; readonly commit: string | null } | null
  readonly tasks: readonly Task[]
  /** Where the lines of done tasks were when they were last measured. */
  readonly landings: ReadonlyMap<TaskId, Landed>
  /** Who accepted tasks that are not proven. */
  readonly acceptances: ReadonlyMap<TaskId, string>
  readonly files: readonly ReportFile[]
  /** How the files were found. */
  readonly basis: 'states' | 'attempts'
  readonly attempts: readonly EndedAttempt[]
  readonly decisions: readonly Decision[]
  readonly issues: readonly Issue[]
  readonly items: readonly InboxItem[]
  readonly runs: readonly RunRecords[]
  /** Reviews that people sent, oldest first. */
  readonly reviews: readonly ReportReview[]
  readonly comments: readonly ReviewComment[]
  /** Of the mission; null where the report is about a part of it. */
  readonly figures: Figures | null
  /** What was left out because there is too much of it, a sentence each. */
  readonly unread: readonly string[]
}

export interface ReportFile {
  readonly path: string
  readonly from: string | null
  readonly change: ReportedChange['change']
  /** Null where they could not be counted. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  readonly scope: 'in' | 'out' | null
  /** Someone outside the mission changed it too. */
  readonly others: boolean
  readonly taskId: TaskId | null
}

export interface EndedAttempt {
  readonly attempt: Attempt
  /** Null while it is open, and where it was abandoned. */
  readonly end: {
    readonly outcome: Outcome
    /** Null for a failed attempt. */
    readonly verdict: Verdict | null
    readonly measurement: 'exact' | 'partial' | 'unknown'
    readonly contested: readonly ContestedFile[]
    readonly warnings: readonly string[]
    readonly changes: readonly ReportedChange[]
  } | null
}

export interface RunRecords {
  readonly run: RunRecord
  /** Oldest first. */
  readonly events: readonly RunEvent[]
  readonly commands: readonly CommandResult[]
  readonly approvals: readonly RunApproval[]
  readonly refusals: readonly RunRefusal[]
}

/** A person's review of the content they saw. */
export interface ReportReview {
  readonly id: string
  readonly action: ReviewAction
  /** The reviewed task; null where the mission was reviewed. */
  readonly taskId: TaskId | null
  readonly text: string | null
  /** The hash of the reviewed content. */
  readonly content: string
  readonly author: { readonly name: string }
  readonly createdAt: number
}

export interface ReportTextOptions {
  /** Texts are printed in full, however long. */
  readonly whole: boolean
}

const maxTextLength = 1_500

/** The report of these records: the same for the same records. */
export function reportOf(records: ReportRecords, { whole }: ReportTextOptions): ReportDocument {
  const shorten = (text: string): string => (whole ? text : cutText(text))
  const names = new Map<string, string>(records.tasks.map(({ id, name }) => [id, name]))
  const about: ReportContext = { records, shorten, taskSuffix: (id) => taskPart(id, names) }
  const sections = [
    workSection(about),
    changesSection(about),
    outsideSection(about),
    contestedSection(about),
    decisionsSection(about),
    issuesSection(about),
    gatesSection(about),
    reviewsSection(about),
    commentsSection(about),
    figuresSection(about),
    openRecordsSection(about),
  ].filter(({ entries }) => entries.length > 0)
  const { subject, since } = records
  const { name } = subject.task ?? subject.mission
  return { title: name, ...headOf(about, since), sections }
}

interface ReportContext {
  readonly records: ReportRecords
  readonly shorten: (text: string) => string
  readonly taskSuffix: (id: string | null) => readonly TextPart[]
}

/** Notes where it was cut, and the full length. */
function cutText(text: string): string {
  if (text.length <= maxTextLength) return text
  const number = new Intl.NumberFormat('en')
  return `${excerpt(text, maxTextLength)} (the first ${number.format(maxTextLength)} of ${number.format(text.length)} characters)`
}

function taskPart(id: string | null, names: ReadonlyMap<string, string>): readonly TextPart[] {
  if (id === null) return []
  const name = names.get(id)
  return name === undefined ? [' · ', { code: id }] : [` · ${excerpt(name, 80)}`]
}

function headOf({ records, shorten }: ReportContext, since: ReportRecords['since']) {
  const { subject, files, basis } = records
  const { mission, task } = subject
  const added = sumOfLines(files.map(({ addedLines }) => addedLines))
  const deleted = sumOfLines(files.map(({ deletedLines }) => deletedLines))
  const goal = task === null ? mission.objective : task.goal
  const status = task === null ? mission.status : (task.resolution ?? task.status)
  const agents = [...new Set(records.attempts.map(({ attempt }) => agentOf(attempt)))]
  const lines: (readonly TextPart[])[] = []
  if (goal !== null && goal !== (subject.task ?? subject.mission).name) lines.push([shorten(goal)])
  lines.push([
    `${formatCount(files.length, 'file')} changed, ${added === null || deleted === null ? 'lines not counted' : `+${added} −${deleted} lines`}, as measured with git · ${formatCount(records.attempts.length, 'attempt')}${agents.length === 0 ? '' : ` by ${agents.slice(0, 8).join(', ')}${agents.length > 8 ? ` and ${agents.length - 8} more` : ''}`} · ${plainWord(status)} · `,
    { code: (subject.task ?? subject.mission).id },
  ])
  if (since !== null) {
    const commit = since.commit === null ? [] : [', the time of commit ', { code: since.commit.slice(0, 12) }]
    lines.push([`Only what happened since ${instant(since.startsAt)}`, ...commit, '.'])
  }
  const end = task === null ? mission.summary : null
  if (end !== null) lines.push([{ strong: 'At its end:' }, ` ${shorten(end)}`])
  for (const sentence of records.unread) lines.push([sentence])
  return {
    lines,
    data: {
      waymark_report: 1,
      mission: mission && {
        id: mission.id,
        name: mission.name,
        objective: mission.objective === null ? null : shorten(mission.objective),
        status: mission.status,
        summary: mission.summary === null ? null : shorten(mission.summary),
        started_at: instant(mission.createdAt),
        completed_at: instantOrNull(mission.completedAt),
      },
      task: task && { id: task.id, name: task.name, goal: task.goal && shorten(task.goal), status },
      since: since && { starts_at: instant(since.startsAt), commit: since.commit },
      totals: { files: files.length, added_lines: added, deleted_lines: deleted, basis },
      unread: records.unread,
    },
  }
}

function agentOf(attempt: Attempt): string {
  return excerpt(displayName(attempt), 60)
}

function authorOf(attempt: Attempt): string {
  return excerpt(outcomeAuthorOf(attempt), 60)
}

function landedText(landed: Landed | null): string {
  return landed === null || landed.is === 'none' || landed.is === 'unknown' ? '' : `, ${landingWords(landed)}`
}

function workSection({ records, shorten }: ReportContext): ReportSection {
  const entries = records.tasks.flatMap((task): readonly ReportEntry[] => {
    const own = records.attempts.filter(({ attempt }) => attempt.taskId === task.id)
    const last = own.at(-1)
    if (last === undefined && records.since !== null) return []
    const { outcome, verdict = null, measurement, warnings = [] } = last?.end ?? {}
    const landed = task.status === 'done' ? (records.landings.get(task.id) ?? null) : null
    const acceptedBy = isDoubted(verdict?.is) ? (records.acceptances.get(task.id) ?? null) : null
    const status = plainWord(task.resolution ?? task.status)
    const tests = outcome?.testsStatus ?? null
    const measured = measurement === undefined ? '' : `, changes ${measurement}`
    const tried = own.length > 1 ? `, ${own.length} attempts` : ''
    return [
      {
        line: [
          { strong: task.name },
          ` (${status}${tried}${measured}${verdict === null ? '' : `, ${verdict.is}`}${acceptedBy === null ? '' : `, accepted by ${acceptedBy}`}${landedText(landed)}${tests === null ? '' : `, tests ${plainWord(tests)} as claimed`})`,
          ...(last === undefined ? [] : [` · ${authorOf(last.attempt)}`]),
        ],
        under: [
          ...(outcome === undefined || outcome.summary === '' ? [] : [[shorten(outcome.summary)]]),
          ...(verdict?.is === 'contradicted' ? [[shorten(reasonsText(verdict))]] : []),
          ...(last === undefined ? [] : outsideLine(last)),
          ...warnings
            .filter((warning) => !isOutOfScopeNote(warning))
            .map((warning) => [shorten(noteForPeople(warning))]),
        ],
        data: {
          task_id: task.id,
          name: task.name,
          goal: task.goal && shorten(task.goal),
          status: task.resolution ?? task.status,
          agent: last === undefined ? null : authorOf(last.attempt),
          attempts: own.length,
          measurement: measurement ?? null,
          verdict: verdict && {
            is: verdict.is,
            reasons: verdict.reasons.map(({ rule, text }) => ({ rule, text: shorten(text) })),
          },
          accepted_by: acceptedBy,
          landed: landed && {
            is: landed.is,
            branch: landed.branch,
            lines: landed.lines,
            total: landed.total,
          },
          claimed: outcome === undefined ? null : { summary: shorten(outcome.summary), tests },
          warnings: warnings.map(shorten),
        },
      },
    ]
  })
  return { key: 'tasks', title: 'Work', about: 'Summaries are written by the agents.', entries }
}

const maxOutside = 5

/** The files of an attempt that its scope does not cover. */
function outsideLine({ attempt, end }: EndedAttempt): readonly (readonly TextPart[])[] {
  const outside = end?.changes.filter(({ scope }) => scope === 'out') ?? []
  if (outside.length === 0) return []
  const shown = outside
    .slice(0, maxOutside)
    .flatMap(({ path }) => [', ', { code: path }])
    .slice(1)
  const more = outside.length > maxOutside ? ` and ${outside.length - maxOutside} more` : ''
  const areas = attempt.areas.flatMap((area) => [', ', { code: area }]).slice(1)
  return [['Out of scope: ', ...shown, `${more}. The scope is `, ...areas, '.']]
}

/** The tasks whose attempts changed a file, in the order of their work. */
function tasksByPath(attempts: readonly EndedAttempt[]): ReadonlyMap<string, readonly TaskId[]> {
  const found = new Map<string, TaskId[]>()
  for (const { attempt, end } of attempts) {
    for (const { path, origin } of end?.changes ?? []) {
      const tasks = found.get(path) ?? []
      if (origin === 'imported' || tasks.includes(attempt.taskId)) continue
      found.set(path, [...tasks, attempt.taskId])
    }
  }
  return found
}

function changesSection({ records, taskSuffix }: ReportContext): ReportSection {
  const tasks = tasksByPath(records.attempts)
  const tasksOf = ({ path, taskId }: ReportFile) => tasks.get(path) ?? (taskId === null ? [] : [taskId])
  const about =
    records.basis === 'states'
      ? 'The difference between the state at the first attempt and the state at the last end, measured with git.'
      : 'What each attempt changed, measured with git; lines are summed over attempts.'
  return {
    key: 'changes',
    title: 'Changes',
    about,
    entries: records.files.map((file) => ({
      line: [
        ...(file.from === null ? [] : [{ code: file.from }, ' → ']),
        { code: file.path },
        ` ${file.change}${linesOf(file)}`,
        ...(file.scope === 'out' ? [', ', { strong: 'out of scope' }] : []),
        ...(file.others ? [', others wrote there too'] : []),
        ...tasksOf(file).flatMap((id) => taskSuffix(id)),
      ],
      under: [],
      data: {
        path: file.path,
        from: file.from,
        change: file.change,
        added_lines: file.addedLines,
        deleted_lines: file.deletedLines,
        scope: file.scope,
        others: file.others,
        task_id: file.taskId,
        task_ids: tasksOf(file),
      },
    })),
  }
}

function linesOf({ addedLines, deletedLines }: ReportFile): string {
  return addedLines === null || deletedLines === null
    ? ', lines not counted'
    : ` +${addedLines} −${deletedLines}`
}

/** Changes out of scope: the agent's reason, and who accepted them. */
function outsideSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entries = records.attempts.flatMap(({ attempt, end }): readonly ReportEntry[] => {
    const outside = end?.changes.filter(({ scope }) => scope === 'out') ?? []
    return outside.map(({ path }) => {
      const why = end?.outcome.unexpected?.find((one) => one.path === path)?.why ?? null
      const item = records.items.find(
        ({ kind, attemptId, paths }) => kind === 'scope' && attemptId === attempt.id && paths.includes(path),
      )
      return {
        line: [{ code: path }, ...taskSuffix(attempt.taskId), ...(why === null ? [] : [`: ${shorten(why)}`])],
        under: item === undefined ? [] : [inboxItemParts(item, shorten)],
        data: {
          path,
          task_id: attempt.taskId,
          why: why && shorten(why),
          item: item ? inboxItemData(item, shorten) : null,
        },
      }
    })
  })
  return {
    key: 'outside',
    title: 'Out of scope',
    about: 'Changed outside the declared scope of the task.',
    entries,
  }
}

/** Each name once; an agent with two tasks at once is named as in another task. */
function namesOf(candidates: readonly { readonly agent: string }[], attempt: Attempt): readonly string[] {
  const own = agentOf(attempt)
  return [...new Set(candidates.map(({ agent }) => (agent === own ? `${agent} in another task` : agent)))]
}

interface ContestedChange {
  readonly path: string
  readonly attempt: Attempt
  readonly others: readonly string[]
  /** It counts as a change of the attempt: its agent or one of the others made it. Else another agent more likely did. */
  readonly isCounted: boolean
}

/** A line for each file, whichever and however many of the attempts know of it. */
function contestedSection({ records, taskSuffix }: ReportContext): ReportSection {
  const changes = records.attempts.flatMap(({ attempt, end }): readonly ContestedChange[] => {
    if (end === null) return []
    const counted = end.changes.flatMap(({ path, attribution, with: candidates = [] }) =>
      attribution === 'contested'
        ? [{ path, attempt, others: namesOf(candidates, attempt), isCounted: true }]
        : [],
    )
    const perhaps = end.contested.map(({ path, candidates: others }) => ({
      path,
      attempt,
      others,
      isCounted: false,
    }))
    return [...counted, ...perhaps]
  })
  const entries = [...Map.groupBy(changes, ({ path }) => path)].map(([path, ofFile]): ReportEntry => {
    const counted = ofFile.filter(({ isCounted }) => isCounted)
    const lessLikely = new Set(
      ofFile.filter((change) => !counted.includes(change)).map(({ attempt }) => agentOf(attempt)),
    )
    for (const { attempt } of counted) lessLikely.delete(agentOf(attempt))
    const named = ofFile.flatMap(({ attempt, others }) => [agentOf(attempt), ...others])
    const likely = new Set(named.filter((agent) => !lessLikely.has(agent)))
    const words = (agents: ReadonlySet<string>) => [...agents].map((agent) => excerpt(agent, 60)).join(' or ')
    const taskIds = [...new Set(counted.map(({ attempt }) => attempt.taskId))]
    return {
      line: [
        { code: path },
        `: ${words(likely)}${lessLikely.size === 0 ? '' : `; less likely ${words(lessLikely)}`}`,
        ...taskIds.flatMap((id) => taskSuffix(id)),
      ],
      under: [],
      data: { path, agents: [...likely], less_likely: [...lessLikely], task_ids: taskIds },
    }
  })
  return {
    key: 'contested',
    title: 'Changes by one of several agents',
    about: 'Several agents worked in one work tree, so the author of these changes is not certain.',
    entries,
  }
}

function decisionsSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entries = records.decisions.map((decision): ReportEntry => {
    const { question, chosen, reasoning, tradeOffs, optionsConsidered, agentName } = decision
    const refused = optionsConsidered.filter((option) => option !== chosen)
    return {
      line: [
        { strong: shorten(chosen) },
        ` — ${shorten(question)}`,
        ...(agentName === null ? [] : [` · ${excerpt(agentName, 60)}`]),
        ...taskSuffix(decision.taskId),
      ],
      under: [
        [`Why: ${shorten(reasoning)}`],
        ...(refused.length === 0 ? [] : [[`Refused: ${shorten(refused.join('; '))}`]]),
        ...(tradeOffs === null ? [] : [[`Accepted: ${shorten(tradeOffs)}`]]),
      ],
      data: {
        id: decision.id,
        category: decision.category,
        question: shorten(question),
        chosen: shorten(chosen),
        reasoning: shorten(reasoning),
        refused: refused.map(shorten),
        trade_offs: tradeOffs && shorten(tradeOffs),
        task_id: decision.taskId,
        agent: agentName,
        created_at: instant(decision.createdAt),
      },
    }
  })
  return { key: 'decisions', title: 'Decisions', about: '', entries }
}

function issuesSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entries = records.issues.map((issue): ReportEntry => {
    const item = records.items.find(({ issueId }) => issueId === issue.id)
    return {
      line: [`${shorten(issue.description)} (${plainWord(issue.type)})`, ...taskSuffix(issue.taskId)],
      under: [
        ...(issue.resolution === ''
          ? []
          : [[`${issue.agentName ?? 'The agent'}: ${shorten(issue.resolution)}`]]),
        ...(item === undefined ? [] : [inboxItemParts(item, shorten)]),
      ],
      data: {
        id: issue.id,
        type: issue.type,
        description: shorten(issue.description),
        resolution: shorten(issue.resolution),
        task_id: issue.taskId,
        agent: issue.agentName,
        created_at: instant(issue.createdAt),
        item: item ? inboxItemData(item, shorten) : null,
      },
    }
  })
  return { key: 'issues', title: 'Issues and answers', about: '', entries }
}

function inboxItemParts(item: InboxItem, shorten: (text: string) => string): readonly TextPart[] {
  const { closedBy, answer } = item
  if (item.status === 'open') return [{ strong: 'Open:' }, ' it needs a person. ', { code: item.id }]
  return [`${closedBy ?? 'A person'} ${itemOutcome(item)} it${answer === null ? '' : `: ${shorten(answer)}`}`]
}

function inboxItemData(item: InboxItem, shorten: (text: string) => string) {
  const { id, kind, status, answer, closedBy, closedAt } = item
  return {
    id,
    kind,
    status,
    reason: shorten(item.reason),
    answer: answer && shorten(answer),
    closed_by: closedBy,
    closed_at: instantOrNull(closedAt),
  }
}

function gatesSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entries = records.runs.map(({ run, events, commands, approvals, refusals }): ReportEntry => {
    const matched = approvalsByEvent(
      events,
      approvals,
      ({ author, createdAt }: { readonly author: string; readonly createdAt: number }) =>
        `${author} ${createdAt}`,
    )
    return {
      line: [
        { strong: run.process.name },
        ` ${run.process.version}: ${run.status} in “${run.state}” · `,
        { code: run.id },
        ...taskSuffix(run.taskId),
      ],
      under: [
        ...events.map((event) => [
          ...eventParts(event),
          ...(matched.byEvent.get(event) ?? []).flatMap((approval) => [
            '; ',
            ...approvalParts(approval, shorten),
          ]),
        ]),
        ...commands.map(commandParts),
        ...matched.alone.map((approval) => [`${approval.author} `, ...approvalParts(approval, shorten)]),
        ...(refusals.length === 0
          ? []
          : [[`${formatCount(refusals.length, 'event was', 'events were')} refused.`]]),
      ],
      data: {
        run_id: run.id,
        process: { id: run.process.id, version: run.process.version, hash: run.process.hash },
        task_id: run.taskId,
        status: run.status,
        state: run.state,
        events: events.map((event) => ({
          event: event.event,
          kind: event.kind,
          from: event.from,
          to: event.to,
          author: event.author,
          role: event.role,
          created_at: instant(event.createdAt),
          files: event.artifacts.map(({ type, path, bytes, sha256 }) => ({ type, path, bytes, sha256 })),
          unsatisfied: event.unsatisfied,
        })),
        commands: commands.map((command) => ({
          run: shorten(command.run),
          status: command.status,
          exit_code: command.exitCode,
          tree: command.tree,
          tree_held: command.treeHeld,
          by_runner: command.byRunner === true,
          ended_at: instantOrNull(command.endedAt),
        })),
        approvals: approvals.map(
          ({ author, role, artifact, content, reason, createdAt, withdrawnAt = null }) => ({
            author,
            role,
            artifact,
            content,
            reason: reason && shorten(reason),
            created_at: instant(createdAt),
            withdrawn_at: instantOrNull(withdrawnAt),
          }),
        ),
        refused: refusals.map(({ event, code, author, createdAt }) => ({
          event,
          code,
          author,
          created_at: instant(createdAt),
        })),
      },
    }
  })
  return {
    key: 'gates',
    title: 'Gates',
    about: 'The evidence of each gate: commands with exit code and tree, files with SHA-256.',
    entries,
  }
}

function approvalParts(
  { role, artifact, content, reason, withdrawnAt }: RunApproval,
  shorten: (text: string) => string,
): readonly TextPart[] {
  return [
    `approved ${artifact ?? 'the state'} as ${role}, content `,
    { code: content.slice(0, 12) },
    ...(withdrawnAt === undefined ? [] : [` (withdrawn ${instant(withdrawnAt)})`]),
    ...(reason === null ? [] : [`: ${shorten(reason)}`]),
  ]
}

const actionWords = {
  approve: 'approved',
  send_back: 'sent back',
  comment: 'commented on',
} as const satisfies Record<ReviewAction, string>

/** Answers about work that were given in the inbox; a review closes the items that it answers itself. */
function answersInInbox({ items, reviews }: ReportRecords): readonly AnsweredReview[] {
  return items.flatMap(({ id, kind, action, taskId, answer, closedBy, closedAt }) => {
    const isOfWork = kind === 'review' || kind === 'verdict' || kind === 'scope'
    const isReview = reviews.some((one) => one.createdAt === closedAt && one.author.name === closedBy)
    if (!isOfWork || isReview || closedBy === null || closedAt === null) return []
    if (action !== 'approved' && action !== 'sent back') return []
    const done = action === 'approved' ? ('approve' as const) : ('send_back' as const)
    const author = { name: closedBy }
    const text = answer === action ? null : answer
    return [{ id, action: done, taskId, text, content: null, author, createdAt: closedAt }]
  })
}

type AnsweredReview = Omit<ReportReview, 'content'> & { readonly content: string | null }

function reviewsSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  return {
    key: 'reviews',
    title: 'Reviews',
    about: 'An approval of a review is bound to exactly the content that was shown.',
    entries: [...records.reviews, ...answersInInbox(records)]
      .toSorted((a, b) => a.createdAt - b.createdAt)
      .map(({ id, action, taskId, text, content, author, createdAt }) => ({
        line: [
          `${author.name} ${actionWords[action]} the ${taskId === null ? 'mission' : 'work'}`,
          ...(text === null ? [] : [`: ${shorten(text)}`]),
          ...taskSuffix(taskId),
        ],
        under: [],
        data: {
          id,
          action,
          task_id: taskId,
          text: text && shorten(text),
          content,
          author: author.name,
          created_at: instant(createdAt),
        },
      })),
  }
}

function commentsSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entries = records.comments.map((comment): ReportEntry => {
    const { id, path, line, quoted, kind, text, author, taskId, replies, createdAt } = comment
    const location = path === null ? [] : [' at ', { code: line === null ? path : `${path}:${line}` }]
    const status = commentStatus(comment)
    return {
      line: [
        { strong: `${plainWord(kind)} (${status}):` },
        ` ${shorten(text)} · ${author.name}`,
        ...location,
        ...taskSuffix(taskId),
      ],
      under: [
        ...(quoted === null || quoted === '' ? [] : [[{ code: quoted }]]),
        ...replies.map((reply) => [
          `${reply.agentName ?? reply.author}${reply.done ? ' (done)' : ''}: ${shorten(reply.text)}`,
        ]),
      ],
      data: {
        id,
        kind,
        status,
        text: shorten(text),
        path,
        line,
        quoted,
        author: author.name,
        task_id: taskId,
        created_at: instant(createdAt),
        replies: replies.map((reply) => ({
          author: reply.agentName ?? reply.author,
          text: shorten(reply.text),
          done: reply.done,
          created_at: instant(reply.createdAt),
        })),
      },
    }
  })
  return { key: 'comments', title: 'Review comments', about: '', entries }
}

const maxFilesOfEvent = 20

function eventParts(event: RunEvent): readonly TextPart[] {
  const files = event.artifacts
    .slice(0, maxFilesOfEvent)
    .flatMap(({ type, path, sha256 }): readonly TextPart[] => [
      `; ${type} `,
      { code: path },
      ' ',
      { code: sha256.slice(0, 12) },
    ])
  const more = event.artifacts.length - maxFilesOfEvent
  const name = event.kind === 'event' ? event.event : `${event.kind}: ${event.event}`
  return [
    `${name}: ${event.from} → ${event.to}, by ${event.author}${event.role === null ? '' : ` (${event.role})`}`,
    ...files,
    ...(more > 0 ? [`; ${more} more`] : []),
    ...(event.unsatisfied.length === 0 ? [] : [`; although: ${event.unsatisfied.join('; ')}`]),
  ]
}

function commandParts({
  run,
  status,
  exitCode,
  tree,
  treeHeld,
  byRunner,
}: CommandResult): readonly TextPart[] {
  const code = exitCode === null ? '' : `, exit code ${exitCode}`
  return [
    { code: excerpt(run, 200) },
    ` ${plainWord(status)}${code} on tree `,
    { code: tree.slice(0, 12) },
    ...(byRunner ? [', run by a runner'] : []),
    ...(treeHeld ? [] : [', files changed meanwhile: it does not count']),
  ]
}

function figuresSection({ records: { figures } }: ReportContext): ReportSection {
  const rows = figures === null ? [] : figureRows(figures)
  return {
    key: 'figures',
    title: 'Figures',
    about: '',
    entries: rows.map(({ name, value, n, unit, basis }) => ({
      line: [`${name}: ${value} (${basis}, n = ${formatCount(n, unit)})`],
      under: [],
      data: { figure: name, value, n, unit, basis },
    })),
  }
}

interface FigureRow {
  readonly name: string
  readonly value: string
  readonly n: number
  readonly unit: string
  readonly basis: 'measured' | 'claimed'
}

function figureRows(figures: Figures): readonly FigureRow[] {
  const { attemptTime, firstPass, waiting, retries, refusedEvents, tokens } = figures
  const row = (name: string, value: string | null, n: number, unit: string): readonly FigureRow[] =>
    value === null || n === 0 ? [] : [{ name, value, n, unit, basis: 'measured' }]
  const claimedFigure = (name: string, value: string | null, n: number, unit: string): readonly FigureRow[] =>
    row(name, value, n, unit).map((each) => ({ ...each, basis: 'claimed' }))
  const { passed } = firstPass
  return [
    ...row('Attempt time, median', duration(attemptTime.median), attemptTime.n, 'attempt'),
    ...claimedFigure(
      'First pass',
      passed === null ? null : `${passed} of ${firstPass.n}`,
      firstPass.n,
      'task',
    ),
    ...row('Waiting for people, total', duration(waiting.total), waiting.n, 'answer'),
    ...row('Attempts', retries.attempts === null ? null : `${retries.attempts}`, retries.n, 'task'),
    ...row(
      'Refused events',
      refusedEvents.refused === null ? null : `${refusedEvents.refused}`,
      refusedEvents.n,
      'event',
    ),
    ...claimedFigure('Tokens in', formatNumber(tokens.input.sum), tokens.input.n, 'attempt'),
    ...claimedFigure('Tokens out', formatNumber(tokens.output.sum), tokens.output.n, 'attempt'),
  ]
}

function formatNumber(value: number | null): string | null {
  return value === null ? null : new Intl.NumberFormat('en').format(value)
}

function duration(milliseconds: number | null): string | null {
  if (milliseconds === null) return null
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Open work: inbox items first, since they wait for people. */
function openRecordsSection({ records, shorten, taskSuffix }: ReportContext): ReportSection {
  const entry = (label: string, text: string, taskId: string | null, id?: string): ReportEntry => ({
    line: [
      { strong: `${label}:` },
      ` ${shorten(text)}`,
      ...(id === undefined ? [] : [' ', { code: id }]),
      ...taskSuffix(taskId),
    ],
    under: [],
    data: { what: label, text: shorten(text), task_id: taskId, ...(id !== undefined && { id }) },
  })
  const open = records.items.filter(({ status }) => status === 'open')
  // Only the last attempt of each task counts: an earlier attempt's remainder may be done.
  const last = new Map(records.attempts.map((entry) => [entry.attempt.taskId, entry]))
  const agentNotes = [...last.values()].flatMap(({ attempt, end }) => {
    const { limitations = [], nextSteps = [], manualReviewNeeded, manualReviewReason } = end?.outcome ?? {}
    return [
      ...(manualReviewNeeded
        ? [entry('Needs attention', manualReviewReason ?? 'The agent asks for a review.', attempt.taskId)]
        : []),
      ...limitations.map((text) => entry('Limit', text, attempt.taskId)),
      ...nextSteps.map((text) => entry('Next', text, attempt.taskId)),
    ]
  })
  const undone = records.tasks.filter(({ status }) => status !== 'done')
  return {
    key: 'left',
    title: 'Open work',
    about: '',
    entries: [
      ...open.map((item) => entry(`Open ${plainWord(item.kind)}`, item.reason, item.taskId, item.id)),
      ...undone.map(({ id, name, status }) => entry(`Not done (${plainWord(status)})`, name, null, id)),
      ...(records.subject.task === null
        ? records.subject.mission.limitations.map((text) => entry('Limit', text, null))
        : []),
      ...agentNotes,
    ],
  }
}
