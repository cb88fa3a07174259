import type { RecordedSpan, RecordedStep } from '../../lines/domain/line-hashes.ts'
import { canonicalText, loneSurrogateEscape, sha256 } from '../../store/fingerprint.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { BroughtBy } from '../../track/domain/changes.ts'
import type { ProjectEventOf } from '../domain/event-kinds.ts'
import type { NewProjectEvent } from '../domain/project-event.ts'

/** The chain covers a digest of a step's line hashes and random text, its seal. Both can be removed while the chain holds. */

interface LinesBody {
  readonly span: { readonly steps: readonly RecordedStep[] }
}

const digestMark = '#'

/** The log entries with a seal for each step that has hashes. */
export function sealLineHashes(events: readonly NewProjectEvent[]): readonly NewProjectEvent[] {
  return events.map((event) => {
    if (event.kind !== 'lines.recorded') return event
    const { steps } = event.span
    const random = process.getBuiltinModule('node:crypto').randomBytes(steps.length * sealLength)
    const seal = (at: number) => random.toString('base64url', at * sealLength, (at + 1) * sealLength)
    const withSeals = steps.map((step, at) => (hasHashes(step) ? { ...step, seal: seal(at) } : step))
    return { ...event, span: { ...event.span, steps: withSeals } }
  })
}

// In bytes.
const sealLength = 12

function hasHashes({ added, removed, around }: RecordedStep): boolean {
  return added !== '' || removed !== '' || around.hashes !== ''
}

/** The part of a log entry's body that the chain covers. */
export function chainedBody(kind: string, body: string): string {
  if (kind !== 'lines.recorded' || !body.includes('"seal":')) return body
  return canonicalText(withoutLineHashes(parseColumn<LinesBody>(body)))
}

function withoutLineHashes<Body extends LinesBody>(body: Body): Body {
  return { ...body, span: { ...body.span, steps: body.span.steps.map(withoutHashes) } }
}

/** The body of a new log entry, and the part that the chain covers. */
export function newBody({ kind, ...body }: NewProjectEvent): {
  readonly body: string
  readonly chained: string
} {
  if (kind !== 'lines.recorded') {
    const text = canonicalText(body)
    return { body: text, chained: text }
  }
  const lines = body as ProjectEventOf<'lines.recorded'> // by its kind
  return { body: canonicalLines(lines), chained: canonicalLines(withoutLineHashes(lines)) }
}

type RequiredShape<Shape> = { readonly [Key in keyof Required<Shape>]: Shape[Key] }

/** The canonical text of possibly thousands of lines. `JSON.stringify` suffices, since all keys are known and in order. */
function canonicalLines(body: Omit<ProjectEventOf<'lines.recorded'>, 'kind'>): string {
  const { broughtFrom, headAfter, headBefore, ran, since, stashMoved, steps, tree, until } = body.span
  const span: RequiredShape<Omit<RecordedSpan, 'steps'>> & {
    readonly steps: readonly RequiredShape<RecordedStep>[]
  } = {
    broughtFrom,
    headAfter,
    headBefore,
    ran,
    since,
    stashMoved,
    steps: steps.map(stepInOrder),
    tree,
    until,
  }
  const text = JSON.stringify({ span })
  return loneSurrogateEscape.test(text) ? canonicalText(body) : text
}

function stepInOrder(step: RecordedStep): RequiredShape<RecordedStep> {
  return {
    added: step.added,
    after: step.after,
    alike: step.alike,
    around: { hashes: step.around.hashes, lines: step.around.lines },
    before: step.before,
    brought: step.brought,
    broughtBy: step.broughtBy && broughtByInOrder(step.broughtBy),
    certainty: step.certainty,
    from: step.from,
    hunks: step.hunks,
    link: step.link,
    moved: step.moved,
    origin: step.origin,
    owners: step.owners,
    path: step.path,
    reformatted: step.reformatted,
    removed: step.removed,
    reported: step.reported,
    seal: step.seal,
    staged: step.staged,
    turns: step.turns,
  }
}

function broughtByInOrder({ command, commit }: BroughtBy): BroughtBy {
  return { ...(command !== undefined && { command }), ...(commit !== undefined && { commit }) }
}

/** The body without the hashes of some steps; null if those steps have none to remove. */
export function forgottenBody(body: string, positions: ReadonlySet<number>): string | null {
  const read = parseColumn<LinesBody>(body)
  const steps = read.span.steps.map((step, at) => (positions.has(at) ? withoutHashes(step) : step))
  if (steps.every((step, at) => step === read.span.steps[at])) return null
  return canonicalText({ ...read, span: { ...read.span, steps } })
}

/** A step without hashes: its line movements and the digest. Steps from before seals stay unchanged. */
function withoutHashes(step: RecordedStep): RecordedStep {
  const { seal, added, removed, around } = step
  if (seal === undefined || seal.startsWith(digestMark)) return step
  // Equal to canonical JSON, since these are letters and digits.
  const digest = sha256(JSON.stringify([seal, added, removed, around.hashes]))
  return { ...step, seal: `${digestMark}${digest}`, ...nothing, around: { ...around, hashes: '' } }
}

const nothing = { added: '', removed: '' } as const
