import { z } from 'zod'
import {
  approvedContent,
  differenceWords,
  isContent,
  isContentName,
  revisionContent,
  shortenContent,
} from '../../gate/domain/approved-content.ts'
import { awaitedDecision } from '../../gate/domain/decisions.ts'
import { entryRevision } from '../../gate/domain/run.ts'
import { engineRun } from '../../gate/operations/run/evidence.ts'
import { prepareApprovedContent } from '../../gate/operations/run/external-state.ts'
import {
  commandEvents,
  coveredContents,
  MeasurementQuestions,
  runMeasurements,
} from '../../gate/operations/run/run-measurements.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { difference, measuredList, names, pinned, pinnedFile } from '../../kernel/operations/fields.ts'
import {
  localMeasurer,
  type MeasurementOf,
  MeasurementRun,
  measurement,
  type Readable,
  requireMeasured,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Context, RecordContext } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ChangesRequest, CommandRequest, InboxItem } from '../domain/inbox-item.ts'

/** The parts of a content: submitted files, files of the work tree, and files of which only a hash exists. */
const shownParts = z.strictObject({
  artifacts: names,
  changed: names,
  known: measuredList(pinnedFile),
  command: pinned.nullable(),
  events: z.record(z.string(), z.string()),
})
export type ShownParts = Readable<z.output<typeof shownParts>>

const contentName = z.string().max(200)

/** Stores the content shown to a person; given the content that they reviewed, returns the difference. */
const shownContent = measurement({
  brief: measuredList(shownParts.extend({ content: contentName, seen: contentName.nullable() }), 1_000),
  measured: measuredList(z.strictObject({ difference: difference.nullable() }), 1_000),
  fits: (briefs, measured) => briefs.length === measured.length,
  measure: async (workTree, contents) => {
    const results: { difference: MeasuredDifference }[] = []
    for (const { content, seen, ...parts } of contents) {
      const { shownContents } = workTree
      if (seen === null && (await shownContents.isKept(content))) {
        results.push({ difference: null })
        continue
      }
      const now = await readPreview(workTree, parts)
      const difference = seen === null ? null : await shownContents.since(seen, now)
      await shownContents.keep(content, now)
      results.push({ difference })
    }
    return results
  },
})
type MeasuredDifference = Awaited<ReturnType<WorkTree['shownContents']['since']>>

async function readPreview(
  { evidenceFiles, commandApprovals, witness, folder }: WorkTree,
  { artifacts, changed, known: hashedFiles, command, events }: ShownParts,
) {
  const top = changed.length === 0 ? folder : (await witness.locate(folder)).top
  const pinnedFiles = command === null ? [] : await commandApprovals.filesOf(command)
  return {
    files: [
      ...hashedFiles.map((file) => ({ ...file, text: null })),
      ...(await evidenceFiles.contents(folder, artifacts)),
      ...(await evidenceFiles.contents(top, changed)),
      ...(await coveredContents(evidenceFiles, command ?? { folder }, pinnedFiles)),
    ],
    events,
  }
}

/** The measurements for an answer, or for displaying a question. */
export const shownMeasurements = { ...runMeasurements, shown: shownContent }
export type ShownMeasurements = typeof shownMeasurements
export type ShownQuestions = Pick<MeasurementQuestions<ShownMeasurements>, 'ask'>

/** The current content that an answer to an inbox item or a run is bound to. */
export interface ApprovalContent {
  /** The hash of the content, or the run's revision where nothing can be hashed. */
  readonly content: string
  /** Of a review: what it was while these items were open, by their ids and contents. */
  readonly contentBefore?: (answered: readonly (readonly [string, string | null])[]) => string
  /** The content of each approval that the state needs, by its subject; null where there is none. */
  readonly approvals: ReadonlyMap<string | null, string | null>
  readonly parts: ShownParts
}

const noParts: ShownParts = { artifacts: [], changed: [], known: [], command: null, events: {} }

/** The content of a run under decision: state, submitted files, subjects of approvals. Undefined until measured. */
export async function prepareShownRun(
  reads: Reads,
  questions: ShownQuestions,
  { context, loaded }: { readonly context: RecordContext; readonly loaded: LoadedRun },
): Promise<ApprovalContent | undefined> {
  const { fingerprint } = context
  const { record, definition, artifacts, visits } = loaded
  const approvalsNeeded =
    record.status === 'active' ? (awaitedDecision(definition, record.state)?.approvals ?? []) : []
  const external = await prepareApprovedContent(reads, questions, {
    context,
    loaded,
    approvals: approvalsNeeded,
  })
  if (external === null) return undefined
  const run = engineRun(loaded, external.fileFreshness)
  const approvals = new Map(
    approvalsNeeded.map(({ artifact }) => {
      const content = approvedContent(definition, run, {
        artifact,
        tree: external.approvedTree,
        changes: external.changes,
      })
      return [artifact, content && fingerprint(content)] as const
    }),
  )
  const files = artifacts.map(({ type, path, sha256 }) => `${type} ${path} ${sha256}`).sort()
  const entered = entryRevision(visits, record.state)
  const { state, context: runContext } = record
  const contentByType = [...approvals].map(([of, content]) => ({ of, content }))
  const isBare = files.length === 0 && contentByType.every(({ content }) => content === null)
  const whole = {
    process: record.process.hash,
    state,
    entered,
    context: runContext,
    files,
    bound: contentByType,
  }
  return {
    content: isBare ? revisionContent(record.revision) : fingerprint(whole),
    approvals,
    parts: {
      ...noParts,
      ...(external.elsewhere
        ? { known: artifacts.map(({ path, sha256 }) => ({ path, sha256 })) }
        : {
            artifacts: [...new Set(artifacts.map(({ path }) => path))],
            changed: external.changes?.files.map(({ path }) => path) ?? [],
          }),
      events: {
        state,
        'entered at revision': `${entered}`,
        ...(isBare && { revision: `${record.revision}` }),
        context: JSON.stringify(runContext).slice(0, 2000),
        'submitted files': fingerprint(files),
        ...(external.changes?.unseen.length && {
          [external.elsewhere ? 'work as recorded' : 'not shown by the files']: external.changes.unseen
            .join('; ')
            .slice(0, 2000),
        }),
        ...(external.approvedTree !== null && { 'work tree': external.approvedTree }),
      },
    },
  }
}

/** The content of an item; null for one that is answered with text alone. Undefined until measured. */
export async function prepareShownItem(
  reads: Reads,
  questions: ShownQuestions,
  { context, item }: { readonly context: RecordContext; readonly item: InboxItem },
): Promise<ApprovalContent | null | undefined> {
  const { request, runId } = item
  if (item.status !== 'open' || request === null) return null
  if (request.kind === 'command') return prepareShownCommand(questions, context, request)
  if (request.kind === 'changes') return shownChanges(request)
  const loaded = runId === null ? null : await reads.runs.load(runId)
  return loaded && prepareShownRun(reads, questions, { context, loaded })
}

/** A command of another machine is shown as that machine described it. */
function prepareShownCommand(
  questions: ShownQuestions,
  { machine: own }: RecordContext,
  { run, folder, pinned: files, hash, machine, files: hashedFiles = [] }: CommandRequest,
): ApprovalContent | undefined {
  const command = { run, folder, pinned: [...files] }
  const noApprovals = { approvals: new Map<string | null, string | null>() }
  const events = commandEvents(command)
  if (machine !== own?.id)
    return { ...noApprovals, content: hash, parts: { ...noParts, known: hashedFiles, events } }
  const measured = questions.ask('commands', { ...command, asks: false })
  return measured && { ...noApprovals, content: measured.hash, parts: { ...noParts, command, events } }
}

/** The answer applies to the changes as they were when the item was opened. */
function shownChanges({ content, files, guards }: ChangesRequest): ApprovalContent {
  const lines = files.map(({ path, disk, git }) => [
    path,
    `${disk ?? 'none'}${git === null ? '' : ` git ${git}`}`,
  ])
  const events = Object.fromEntries([...lines, ...guards.map(({ name, reason }) => [name, reason])])
  return { content, approvals: new Map(), parts: { ...noParts, events } }
}

/** Stores a content, so that later changes can be listed, and returns its hash. Undefined until it is stored. */
export function prepareStored(
  questions: ShownQuestions,
  { content, parts }: Pick<ApprovalContent, 'content' | 'parts'>,
): string | undefined {
  return questions.ask('shown', { ...parts, content, seen: null }) && content
}

/** The contents of several items, by item id. Undefined until all were measured. */
export async function prepareContents(
  reads: Reads,
  questions: ShownQuestions,
  { context, items }: { readonly context: RecordContext; readonly items: readonly InboxItem[] },
): Promise<ReadonlyMap<string, ApprovalContent> | undefined> {
  const contents: (readonly [string, ApprovalContent])[] = []
  let isWhole = true
  // In sequence, so that the questions keep their order.
  for (const item of items) {
    const content = await prepareShownItem(reads, questions, { context, item })
    if (content === undefined) isWhole = false
    else if (content !== null) contents.push([item.id, content])
  }
  return isWhole ? new Map(contents) : undefined
}

/** Stores the contents of several items; returns their hashes by item id. */
export async function prepareShownItems(
  reads: Reads,
  questions: ShownQuestions,
  wanted: { readonly context: RecordContext; readonly items: readonly InboxItem[] },
): Promise<ReadonlyMap<string, string> | undefined> {
  const contents = await prepareContents(reads, questions, wanted)
  if (contents === undefined) return undefined
  const stored = [...contents].map(([id, content]) => [id, prepareStored(questions, content)] as const)
  const kept = stored.flatMap(([id, content]) => (content === undefined ? [] : [[id, content] as const]))
  return kept.length === stored.length ? new Map(kept) : undefined
}

/**
 * Compares the content that a person reviewed with the current one. Fails with CONFLICT and the difference.
 * Returns the current content; null if no reviewed content was given; undefined until measured.
 */
export async function prepareSeen(
  questions: ShownQuestions,
  { id, seen }: { readonly id: string; readonly seen: string | undefined },
  prepareContent: () => Promise<ApprovalContent | null | undefined>,
): Promise<ApprovalContent | null | undefined> {
  if (seen === undefined) return null
  if (!isContentName(seen)) {
    throw new Failure(
      'INVALID_INPUT',
      `"${seen.slice(0, 80)}" is no content hash: pass at least its first 6 characters, or a revision such as r3.`,
      { reason: 'content_invalid', hint: 'waymark inbox shows the content hash of each item.' },
    )
  }
  const current = await prepareContent()
  if (current === undefined) return undefined
  if (current === null) {
    throw new Failure('INVALID_INPUT', `Item ${id} has no content, so "${seen}" cannot be checked.`, {
      reason: 'content_not_applicable',
      hint: 'Omit --content.',
    })
  }
  if (isContent(seen, current.content)) return current
  const compared = questions.ask('shown', { ...current.parts, content: current.content, seen })
  if (compared === undefined) return undefined
  if (isOnlyAnswered(seen, current, compared.difference)) return current
  throw contentChangedFailure({ id, seen, current }, compared.difference)
}

/** Whether the person saw what is there now, and questions that were answered since. */
function isOnlyAnswered(
  seen: string,
  { contentBefore }: ApprovalContent,
  difference: MeasurementOf<typeof shownContent>[number]['difference'],
): boolean {
  if (contentBefore === undefined || difference === null) return false
  const answered = difference.events.flatMap(({ name, shown, now }) =>
    now === null && shown !== null ? [[name, shown === noContent ? null : shown] as const] : [],
  )
  return isContent(seen, contentBefore(answered))
}

/** An item whose answer is bound to nothing but the item. */
export const noContent = 'open'

function contentChangedFailure(
  { id, seen, current }: { readonly id: string; readonly seen: string; readonly current: ApprovalContent },
  difference: MeasurementOf<typeof shownContent>[number]['difference'],
): Failure {
  const details = { id, shown: seen, content: current.content, difference }
  const moved = difference?.events.find(({ name }) => name === 'state')
  if (moved) {
    return new Failure(
      'CONFLICT',
      `${id} left "${moved.shown}" after you reviewed it, and is in "${moved.now}": an answer or an event decided what you reviewed.`,
      {
        reason: 'content_changed',
        hint: `See who moved it, and what it waits for now: waymark run show ${id}`,
        details,
      },
    )
  }
  const words = difference && differenceWords(difference)
  const what = words ? `: ${words}` : '; the version you reviewed is no longer kept, so there is no diff'
  return new Failure(
    'CONFLICT',
    `${id} changed after you reviewed it (${shortenContent(seen)} → ${shortenContent(current.content)})${what}.`,
    {
      reason: 'content_changed',
      hint: `Review it again; what other work changed in these files stands only here. Then answer with --content ${shortenContent(current.content)}.`,
      details,
    },
  )
}

/** Measures the content of an item outside the measurements of the calling operation. */
export function measureShown<Found>(
  context: Context,
  operation: string,
  prepare: (reads: Reads, questions: ShownQuestions) => Promise<Found | undefined>,
): Promise<Found> {
  const run = new MeasurementRun<ShownMeasurements, Found | undefined>({
    context: { ...context, measurer: context.measurer ?? localMeasurer(context) },
    operation: { name: operation, measurements: shownMeasurements },
    input: {},
    prepare: async (reads, measured) => {
      const questions = new MeasurementQuestions<ShownMeasurements>(measured)
      return { found: await prepare(reads, questions), briefs: questions.briefs }
    },
  })
  return run.answer(async ({ found }) => requireMeasured(found))
}

/** The content changed between its measurement and the approval. */
export function concurrentChangeFailure(id: string): Failure {
  return new Failure('CONFLICT', `${id} changed while you answered. Nothing was recorded.`, {
    reason: 'content_changed',
    hint: 'Review it again: waymark inbox',
  })
}
