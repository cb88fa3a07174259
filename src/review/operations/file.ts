import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { type MeasurementValues, requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { displayKinds } from '../domain/files.ts'
import {
  authorsOfSteps,
  comparedLines,
  type DiffLine,
  type FileStep,
  type Hunk,
  hunksOf,
  mergedLines,
  splitTextLines,
} from '../domain/lines.ts'
import {
  attemptsOf,
  contentOfMark,
  contentsBrief,
  type GatherContext,
  gatherFiles,
  isHere,
  knownContents,
  materialMeasurements,
  placeKey,
  type ReviewedFile,
  type ReviewMaterial,
} from './gather.ts'
import { type Contents, figuresFrom, fileContents, textOfState } from './measure-files.ts'
import { findSubject, reviewerOf, type SubjectInput, subjectField } from './subject.ts'

export const pathField = text('A file of it, from the top of the work tree')
export const treeField = text('Its work tree, if the review has several').optional()

const maxLineLength = 4000
const maxLines = 6000
const around = 3

const LineEntry = z.object({
  kind: z.enum([' ', '+', '-']),
  old: z.int().optional(),
  new: z.int().optional(),
  text: z.string(),
  /** The attempt that added or removed it, if several changed the file; null if none of them did. */
  attempt: z.string().nullable().optional(),
})

export const reviewFile = defineOperation({
  name: 'review_file',
  command: 'review file',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'Show a file under review',
  description: 'Show its lines, from before the work or your last view to now.',
  kind: 'query',
  input: z.strictObject({
    subject: subjectField,
    path: pathField,
    tree: treeField,
    since: z.string().max(100).describe('Only what changed since this content, which you viewed').optional(),
    whole: z.boolean().describe('All lines, not only those around a change').optional(),
    ignore_space: z.boolean().describe('Ignore lines that differ only in white space').optional(),
    ...pageFields(20_000, `How many lines; default ${maxLines}`),
  }),
  output: z.object({
    path: z.string(),
    from: z.string().nullable(),
    kind: z.enum(displayKinds),
    before: z.string().nullable(),
    after: z.string().nullable(),
    /** The content that the diff begins with, if it is not the one before the work. */
    since: z.string().nullable(),
    /** The number of lines of each side. */
    lines: z.object({ before: z.int(), after: z.int() }),
    attempts: strings,
    hunks: list(z.object({ old_start: z.int(), new_start: z.int(), lines: list(LineEntry) })),
    /** Whether a side has no line feed at its end. */
    no_newline: z.object({ before: z.boolean(), after: z.boolean() }),
    ...page,
    error: z.string().nullable(),
  }),
})
  .measure({ ...materialMeasurements, contents: fileContents })
  .prepare(async (reads, input, context, measured) => {
    const { briefs, gathered } = await gatherFile(reads, context, { input, measured })
    const file = gathered && namedFiles(gathered, input)[0]
    const compared = file ? comparedFile(context, gathered, file, input.since) : null
    const contents = file && compared ? contentsBrief(context, [file], compared.ids) : undefined
    return { briefs: { ...briefs, contents }, found: { gathered, compared } }
  })
  .answer(async ({ reads, found, measured, context }, input) => {
    const file = fileIn(requireMeasured(found.gathered ?? undefined), input)
    const { since, before, steps, ids } = requireMeasured(found.compared ?? undefined)
    if (since !== null) await assertViewedVersion(reads, reviewerOf(context).id, file, since)
    const contents = await knownContents(reads, measured, ids)
    const figures = figuresFrom({ path: file.path, before, after: file.after }, contents)
    const isShown = figures.error === null && (figures.kind === 'text' || figures.kind === 'link')
    const [oldText, newText] = isShown
      ? [textOfState(before, contents), textOfState(file.after, contents)]
      : ['', '']
    const lines = mergedLines(oldText, newText, input.ignore_space ?? false)
    const makers = since === null ? makersFrom(steps, contents) : null
    const all = hunksOf(lines, input.whole === true ? null : around)
    const paging = new Paging('review_file', input, context.actor, maxLines)
    const part = partOf(all, { offset: paging.offset(), limit: paging.limit })
    return {
      path: file.path,
      from: file.from,
      kind: figures.kind,
      before: file.before?.id ?? null,
      after: file.after?.id ?? null,
      since,
      lines: { before: splitTextLines(oldText).length, after: splitTextLines(newText).length },
      attempts: attemptsOf(file),
      hunks: part.hunks.map(({ oldStart, newStart, lines: some }) => ({
        old_start: oldStart,
        new_start: newStart,
        lines: some.map((line) => ({ ...line, text: cutLine(line.text), ...attemptOf(line, makers) })),
      })),
      no_newline: {
        before: oldText !== '' && !oldText.endsWith('\n'),
        after: newText !== '' && !newText.endsWith('\n'),
      },
      total: part.total,
      next_cursor: paging.nextOffset(part.count, part.total),
      error: figures.error,
    }
  })

/** The contents to compare: from a viewed one, or from before the work, with the steps of each attempt. */
function comparedFile(
  context: GatherContext,
  gathered: ReviewMaterial,
  file: ReviewedFile,
  since: string | null = null,
) {
  const steps = file.touched.steps.length > 1 ? stepStates(context, gathered, file) : []
  const before =
    since === null ? file.before : since === '' ? null : { id: since, mode: file.after?.mode ?? '100644' }
  const ids = [before?.id, file.after?.id, ...steps.flatMap((step) => [step.before, step.after])]
  return { since, before, steps, ids }
}

function cutLine(line: string): string {
  return line.length <= maxLineLength
    ? line
    : `${line.slice(0, maxLineLength)}… (${formatCount(line.length - maxLineLength, 'more character')})`
}

type FileAuthors = ReturnType<typeof authorsOfSteps>

function attemptOf(line: DiffLine, makers: FileAuthors | null): { readonly attempt?: string | null } {
  if (makers === null || line.kind === ' ') return {}
  const { old, new: now, kind } = line
  return { attempt: (kind === '-' ? makers.old.get(old ?? 0) : makers.new.get(now ?? 0)) ?? null }
}

/** A page of the lines of hunks; a hunk may be split. */
function partOf(
  hunks: readonly Hunk[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
) {
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  const chosen: Hunk[] = []
  let at = 0
  for (const hunk of hunks) {
    const from = Math.max(0, offset - at)
    const until = Math.min(hunk.lines.length, offset + limit - at)
    at += hunk.lines.length
    if (from >= until) continue
    const lines = hunk.lines.slice(from, until)
    const first = (side: 'old' | 'new') => lines.find((line) => line[side] !== undefined)?.[side]
    chosen.push({ oldStart: first('old') ?? hunk.oldStart, newStart: first('new') ?? hunk.newStart, lines })
  }
  const end = Math.min(total, offset + limit)
  return { hunks: chosen, total, count: Math.max(0, end - offset) }
}

interface StepIds {
  readonly author: string | null
  readonly before: string | null
  readonly after: string | null
}

/** The contents before and after each attempt, and before and after changes by others. Empty if unknown. */
function stepStates(
  context: GatherContext,
  { stateAt }: ReviewMaterial,
  { touched, before, after }: ReviewedFile,
): readonly StepIds[] {
  const steps: StepIds[] = []
  let last = before?.id ?? null
  for (const { work, from, path } of touched.steps) {
    if (!isHere(context, work.end)) return []
    const [start, end] = [stateAt(work.attempt.snapshot, from), stateAt(work.end, path)]
    if (start === undefined || end === undefined) return []
    const [startId, endId] = [start?.id ?? null, end?.id ?? null]
    if (startId !== last) steps.push({ author: null, before: last, after: startId })
    steps.push({ author: work.attempt.id, before: startId, after: endId })
    last = endId
  }
  if (last !== (after?.id ?? null)) steps.push({ author: null, before: last, after: after?.id ?? null })
  return steps
}

function makersFrom(steps: readonly StepIds[], contents: Contents): FileAuthors | null {
  if (steps.length === 0) return null
  const ids = steps.flatMap(({ before, after }) => [before, after]).filter((id) => id !== null)
  if (ids.some((id) => contents.get(id)?.bytes == null)) return null
  const lines = (id: string | null) =>
    comparedLines(textOfState(id === null ? null : { id, mode: '100644' }, contents))
  return authorsOfSteps(
    steps.map(
      ({ author, before, after }): FileStep => ({ author, before: lines(before), after: lines(after) }),
    ),
  )
}

interface ReviewFileRequest {
  readonly subject: SubjectInput
  readonly path?: string | undefined
  readonly tree?: string | undefined
}

/** One file of a review with its subject; the material is null until it is measured. */
export async function gatherFile(
  reads: Reads,
  context: GatherContext & Pick<RecordContext, 'actor' | 'permissions'>,
  {
    input,
    measured,
  }: { readonly input: ReviewFileRequest; readonly measured: MeasurementValues<typeof materialMeasurements> },
) {
  const resolved = await findSubject(reads, input.subject, reviewerOf(context))
  const { path } = input
  const { briefs, found: gathered } = await gatherFiles(reads, context, { found: resolved, measured, path })
  return { briefs, gathered, subject: resolved }
}

/** The files with a path, current or old; only in one work tree if it is named. */
export function namedFiles({ files }: ReviewMaterial, { path, tree }: Omit<ReviewFileRequest, 'subject'>) {
  const named = files.filter((file) => file.path === path || file.from === path)
  return named.filter((one) => tree === undefined || one.touched.tree === tree)
}

export function fileIn(
  material: ReviewMaterial,
  { path, tree }: Omit<ReviewFileRequest, 'subject'>,
): ReviewedFile {
  const [file, other] = namedFiles(material, { path, tree })
  if (file !== undefined && other === undefined) return file
  if (file !== undefined) {
    const trees = namedFiles(material, { path }).map(({ touched }) => touched.tree)
    throw new Failure('INVALID_INPUT', `"${path}" changed in several work trees: ${trees.join(', ')}.`, {
      reason: 'work_tree_ambiguous',
      hint: 'Choose one with tree.',
    })
  }
  throw new Failure('NOT_FOUND', `The review has no file "${path}".`, {
    reason: 'file_not_in_review',
    hint: hintOf`${callTo('review_show')} lists its files.`,
  })
}

/** Refuses a content that the reader has not viewed and that is not of the file: no other is read by its id. */
async function assertViewedVersion(
  { reviews }: Reads,
  readerId: string,
  file: ReviewedFile,
  since: string,
): Promise<void> {
  if (since === file.before?.id || since === file.after?.id) return
  const viewed = await reviews.viewedAt(readerId, [placeKey(file)])
  if (viewed.some(({ content }) => contentOfMark(content) === since)) return
  throw new Failure('NOT_FOUND', `You have not viewed "${file.path}" with content ${contentLabel(since)}.`, {
    reason: 'content_not_seen',
    hint: 'Omit since to get the whole diff.',
  })
}

function contentLabel(content: string): string {
  return content === '' ? '(no file)' : content.slice(0, 12)
}

export const commentField = identifier('The comment (rc-…)')
