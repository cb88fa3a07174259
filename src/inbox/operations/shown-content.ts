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
import { engineRun } from '../../gate/operations/run/evidence.ts'
import { prepareApprovedContent } from '../../gate/operations/run/external-state.ts'
import {
  commandEvents,
  MeasurementQuestions,
  runMeasurements,
} from '../../gate/operations/run/measurements.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { difference, list, names, pinned, pinnedFile } from '../../kernel/operations/fields.ts'
import {
  localMeasurer,
  type MeasurementOf,
  MeasurementRun,
  measurement,
  type Readable,
  requireMeasured,
  type WorkTree,
} from '../../kernel/operations/measurement.ts'
import type { Context, RecordContext } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ChangesRequest, CommandRequest, InboxItem } from '../../track/domain/records.ts'

/** What a content is of: files that were submitted, files of the work tree, what is known by its hash alone. */
const shownParts = z.strictObject({
  artifacts: names,
  changed: names,
  known: list(pinnedFile),
  command: pinned.nullable(),
  events: z.record(z.string(), z.string()),
})
export type ShownParts = Readable<z.output<typeof shownParts>>

const contentName = z.string().max(200)

/** Keeps what a person is shown where the files are; with what they say they saw, tells what differs from it. */
const shownContent = measurement({
  brief: list(shownParts.extend({ content: contentName, seen: contentName.nullable() }), 1_000),
  measured: list(z.strictObject({ difference: difference.nullable() }), 1_000),
  fits: (asked, shown) => asked.length === shown.length,
  measure: async (workTree, contents) => {
    const shown: { difference: MeasuredDifference }[] = []
    for (const { content, seen, ...parts } of contents) {
      const { shownContents } = workTree
      if (seen === null && (await shownContents.isKept(content))) {
        shown.push({ difference: null })
        continue
      }
      const now = await previewOf(workTree, parts)
      const found = seen === null ? null : await shownContents.since(seen, now)
      await shownContents.keep(content, now)
      shown.push({ difference: found })
    }
    return shown
  },
})
type MeasuredDifference = Awaited<ReturnType<WorkTree['shownContents']['since']>>

async function previewOf(
  { evidenceFiles, commandApprovals, witness, folder }: WorkTree,
  { artifacts, changed, known, command, events }: ShownParts,
) {
  const top = changed.length === 0 ? folder : (await witness.locate(folder)).top
  const pinnedFiles = command === null ? [] : await commandApprovals.filesOf(command)
  return {
    files: [
      ...known.map((file) => ({ ...file, text: null })),
      ...(await evidenceFiles.contents(folder, artifacts)),
      ...(await evidenceFiles.contents(top, changed)),
      ...(await evidenceFiles.contents(
        command?.folder ?? folder,
        pinnedFiles.map(({ path }) => path),
      )),
    ],
    events,
  }
}

/** What is measured for an answer, or for a question that is shown. */
export const shownMeasurements = { ...runMeasurements, shown: shownContent }
export type ShownMeasurements = typeof shownMeasurements
export type ShownQuestions = Pick<MeasurementQuestions<ShownMeasurements>, 'ask'>

/** What an answer to an inbox item or a run is bound to, as it is now. */
export interface ApprovalContent {
  /** The hash of it all, or the run's revision where nothing can be hashed. */
  readonly content: string
  /** What each approval that the state asks for would be bound to, by what it is of; null where there is nothing. */
  readonly approvals: ReadonlyMap<string | null, string | null>
  readonly parts: ShownParts
}

const noParts: ShownParts = { artifacts: [], changed: [], known: [], command: null, events: {} }

/**
 * What a run shows to the person who decides about it: its state, its files as they were submitted, what is to be approved.
 * Undefined until it was measured.
 */
export async function prepareShownRun(
  reads: Reads,
  questions: ShownQuestions,
  { context, loaded }: { readonly context: RecordContext; readonly loaded: LoadedRun },
): Promise<ApprovalContent | undefined> {
  const { fingerprint } = context
  const { record, definition, artifacts, visits } = loaded
  const asked = record.status === 'active' ? (awaitedDecision(definition, record.state)?.approvals ?? []) : []
  const external = await prepareApprovedContent(reads, questions, { context, loaded, approvals: asked })
  if (external === null) return undefined
  const run = engineRun(loaded, external.fileFreshness)
  const approvals = new Map(
    asked.map(({ of }) => {
      const content = approvedContent(definition, run, {
        of,
        tree: external.approvedTree,
        changes: external.changes,
      })
      return [of, content && fingerprint(content)] as const
    }),
  )
  const files = artifacts.map(({ type, path, sha256 }) => `${type} ${path} ${sha256}`).sort()
  const entered = visits.find(({ state }) => state === record.state)?.last ?? 1
  const { state, context: known } = record
  const bound = [...approvals].map(([of, content]) => ({ of, content }))
  const isBare = files.length === 0 && bound.every(({ content }) => content === null)
  const whole = { process: record.process.hash, state, entered, context: known, files, bound }
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
        context: JSON.stringify(known).slice(0, 2000),
        'submitted files': fingerprint(files),
        ...(external.changes?.unseen.length && {
          'not shown by the files': external.changes.unseen.join('; ').slice(0, 2000),
        }),
        ...(external.approvedTree !== null && { 'work tree': external.approvedTree }),
      },
    },
  }
}

/** What an item shows; null for one whose answer is words alone: what it asks does not change. Undefined until measured. */
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

/** What would run on another machine is shown as that one asked about it. */
function prepareShownCommand(
  questions: ShownQuestions,
  { machine: own }: RecordContext,
  { run, folder, pinned: files, hash, machine, files: known = [] }: CommandRequest,
): ApprovalContent | undefined {
  const command = { run, folder, pinned: [...files] }
  const shown = { approvals: new Map<string | null, string | null>() }
  const events = commandEvents(command)
  if (machine !== own?.id) return { ...shown, content: hash, parts: { ...noParts, known, events } }
  const measured = questions.ask('commands', { ...command, asks: false })
  return measured && { ...shown, content: measured.hash, parts: { ...noParts, command, events } }
}

/** The answer is to the changes as they were asked about. */
function shownChanges({ content, files, guards }: ChangesRequest): ApprovalContent {
  const lines = files.map(({ path, disk, git }) => [
    path,
    `${disk ?? 'none'}${git === null ? '' : ` git ${git}`}`,
  ])
  const events = Object.fromEntries([...lines, ...guards.map(({ name, reason }) => [name, reason])])
  return { content, approvals: new Map(), parts: { ...noParts, events } }
}

/** The content to answer with, kept so that a change since can be told. Undefined until it was. */
export function prepareStored(
  questions: ShownQuestions,
  { content, parts }: Pick<ApprovalContent, 'content' | 'parts'>,
): string | undefined {
  return questions.ask('shown', { ...parts, content, seen: null }) && content
}

/** The contents of several items, by the item's id. Undefined until all of them were measured. */
export async function prepareContents(
  reads: Reads,
  questions: ShownQuestions,
  { context, items }: { readonly context: RecordContext; readonly items: readonly InboxItem[] },
): Promise<ReadonlyMap<string, ApprovalContent> | undefined> {
  const shown: (readonly [string, ApprovalContent])[] = []
  let isWhole = true
  // One after the other: what is asked for keeps its order.
  for (const item of items) {
    const content = await prepareShownItem(reads, questions, { context, item })
    if (content === undefined) isWhole = false
    else if (content !== null) shown.push([item.id, content])
  }
  return isWhole ? new Map(shown) : undefined
}

/** The same, kept: what a person answers with, by the item's id. */
export async function prepareShownItems(
  reads: Reads,
  questions: ShownQuestions,
  wanted: { readonly context: RecordContext; readonly items: readonly InboxItem[] },
): Promise<ReadonlyMap<string, string> | undefined> {
  const shown = await prepareContents(reads, questions, wanted)
  if (shown === undefined) return undefined
  const stored = [...shown].map(([id, content]) => [id, prepareStored(questions, content)] as const)
  const kept = stored.flatMap(([id, content]) => (content === undefined ? [] : [[id, content] as const]))
  return kept.length === stored.length ? new Map(kept) : undefined
}

/**
 * Fails with CONFLICT where what someone saw is not what is there, with the difference. Answers what is there where it
 * is the same, null where no one says what they saw, and undefined until it was measured.
 */
export async function prepareSeen(
  questions: ShownQuestions,
  { id, seen }: { readonly id: string; readonly seen: string | undefined },
  look: () => Promise<ApprovalContent | null | undefined>,
): Promise<ApprovalContent | null | undefined> {
  if (seen === undefined) return null
  if (!isContentName(seen)) {
    throw new Failure(
      'INVALID_INPUT',
      `"${seen.slice(0, 80)}" is no content hash: pass at least its first 6 characters, or a revision such as r3.`,
      { reason: 'content_invalid', hint: 'waymark inbox shows the content hash of each item.' },
    )
  }
  const shown = await look()
  if (shown === undefined) return undefined
  if (shown === null) {
    throw new Failure('INVALID_INPUT', `Item ${id} has no content, so "${seen}" cannot be checked.`, {
      reason: 'content_not_applicable',
      hint: 'Omit --content.',
    })
  }
  if (isContent(seen, shown.content)) return shown
  const compared = questions.ask('shown', { ...shown.parts, content: shown.content, seen })
  if (compared === undefined) return undefined
  throw contentChangedFailure({ id, seen, shown }, compared.difference)
}

function contentChangedFailure(
  { id, seen, shown }: { readonly id: string; readonly seen: string; readonly shown: ApprovalContent },
  found: MeasurementOf<typeof shownContent>[number]['difference'],
): Failure {
  const said = found && differenceWords(found)
  const what = said ? `: ${said}` : '; the version you reviewed is no longer kept, so there is no diff'
  return new Failure(
    'CONFLICT',
    `${id} changed after you reviewed it (${shortenContent(seen)} → ${shortenContent(shown.content)})${what}.`,
    {
      reason: 'content_changed',
      hint: `Review it again, then answer with --content ${shortenContent(shown.content)}.`,
      details: { id, shown: seen, content: shown.content, difference: found },
    },
  )
}

/** Measures what is shown of an item beside an operation's own answer. */
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
  return run.answered(async ({ found }) => requireMeasured(found))
}

/** What was to be approved changed between the look at it and the approval. */
export function concurrentChangeFailure(id: string): Failure {
  return new Failure('CONFLICT', `${id} changed while you answered. Nothing was recorded.`, {
    reason: 'content_changed',
    hint: 'Review it again: waymark inbox',
  })
}
