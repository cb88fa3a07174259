import type { Kysely } from 'kysely'
import type { NewFact } from '../../events/domain/fact.ts'
import { beforeFirst, factRows } from '../../events/log/journal.ts'
import { sealed } from '../../events/log/sealed-lines.ts'
import { actingAs } from '../../kernel/actor.ts'
import { processEnd } from '../../kernel/ending.ts'
import { Failure } from '../../kernel/failure.ts'
import type { IdSource, ProjectId } from '../../kernel/id.ts'
import { belongsToServer, serverProject } from '../../people/domain/identity.ts'
import { writeBeside } from '../../people/tables/secret.ts'
import { makeHeights } from '../../plan/tables/dependency.ts'
import { assertWritten, knowHead, projectState } from '../../project/tables/project-end.ts'
import { renameProject } from '../../project/tables/project-name.ts'
import { wellFormed } from '../fingerprint.ts'
import type { Beside, Decided, DecidedFirst, Reads, RecordRequest } from '../ports/store.ts'
import { breath } from '../sqlite/waiting.ts'
import { projectFact } from '../tables/projections.ts'
import { inBatches, insertRow, prepared } from '../tables/query.ts'
import { readsOf } from '../tables/reads.ts'
import type { Tables } from '../tables/tables.ts'
import { storeAnswer, storedAnswer } from './idempotency.ts'
import { type ResolvedProject, seen } from './project.ts'
import { sentInSession } from './session.ts'

export interface Recorded<Answer> {
  readonly answer: Answer
  /** As it is now. Null when nothing was written and there is no project yet. */
  readonly project: ResolvedProject | null
  /** The last fact of the journal, by which it is told whether this was committed. Null when there was no fact. */
  readonly last: { readonly seq: number; readonly head: string } | null
}

/** Recorded as soon as what was sent is done, and committed. */
export interface Sent<Answer> extends Recorded<Answer> {
  /** Fails with the first statement that was refused. */
  readonly written: Promise<void>
}

/** Runs inside the one write transaction, which holds the project until it ends. */
export async function record<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: Recording,
): Promise<Sent<Answer>> {
  const { result, written } = await sentInSession(db, async (session) => {
    const decision = await decideOn(session, request, place)
    return 'recorded' in decision ? decision.recorded : append(session, request, place, decision)
  })
  return { ...result, written }
}

/** One of several that are recorded in one transaction. */
export interface Member {
  readonly request: RecordRequest<unknown>
  readonly place: Recording & { readonly found: ResolvedProject }
}

export interface Together {
  /** Of each member, in order: what was recorded, or the refusal of that one alone. */
  readonly results: readonly PromiseSettledResult<Recorded<unknown>>[]
  /** The last fact of all. */
  readonly last: Recorded<unknown>['last']
  readonly written: Promise<void>
}

/**
 * The same for several records of one project, one after the other: each sees what those before it wrote. A member that
 * is refused has written nothing and holds up nobody; any other error is one of all.
 */
export async function recordTogether(
  db: Kysely<Tables>,
  members: readonly Member[],
  locked: Promise<void>,
): Promise<Together> {
  const { result, written } = await sentInSession(db, async (session) => {
    const results: PromiseSettledResult<Recorded<unknown>>[] = []
    let last: Recorded<unknown>['last'] = null
    for (const { request, place } of members) {
      const decision = await decideOn(session, request, { ...place, locked }).catch(refusal)
      if (decision instanceof Failure) {
        results.push({ status: 'rejected', reason: decision })
        continue
      }
      if ('recorded' in decision) {
        results.push({ status: 'fulfilled', value: decision.recorded })
        continue
      }
      const value = await append(session, request, place, decision)
      results.push({ status: 'fulfilled', value })
      last = value.last ?? last
      const isEnded = decision.decided.facts.some(({ kind }) => kind === 'project.ended')
      if (value.last && !isEnded) await knowHead(session, place.found.id, value.last)
    }
    return { results, last }
  })
  return { ...result, written }
}

function refusal(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}

export interface Recording {
  readonly root: string
  readonly ids: IdSource
  readonly found: ResolvedProject | null
  readonly project?: string
  /** The question for the lock, where what is asked next goes out behind it. */
  readonly locked?: Promise<void>
}

type Decision<Answer> =
  /** Answered before, under the same idempotency key. */
  | { readonly recorded: Recorded<Answer> }
  | {
      readonly reads: Reads
      readonly project: Appending['project']
      readonly decided: Decided<Answer> | DecidedFirst<Answer>
    }

/** Writes nothing. */
async function decideOn<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: Recording,
): Promise<Decision<Answer>> {
  const { idempotency } = request
  const { found } = place
  const project = found
    ? { ...found, exists: true }
    : { id: place.project ?? place.ids.next('project'), rootKnown: false, exists: false }
  const reads = readsOf({ db, projectId: project.id })
  const asked = Promise.all([
    idempotency && found ? storedAnswer(db, found.id, idempotency) : null,
    projectState(db, project.id), // asked again when facts are appended, and known by then
    found && request.ahead?.(reads).catch(() => undefined),
  ])
  asked.catch(() => undefined) // without the lock, what is said of it comes first
  await place.locked
  const [stored, state] = await asked
  if (stored) return { recorded: { answer: stored.answer as Answer, project: found, last: null } } // stored as this very answer
  if (state && request.reopens !== true) assertWritten(state)
  const decided = await request.decide(reads)
  if (project.id === serverProject) assertOfServer(decided.facts)
  return { reads, project, decided }
}

async function append<Answer>(
  db: Kysely<Tables>,
  { idempotency, actor: caller, at }: RecordRequest<Answer>,
  { root, found }: Recording,
  { reads, project, decided }: Exclude<Decision<Answer>, { readonly recorded: unknown }>,
): Promise<Recorded<Answer>> {
  const { facts } = decided
  const actor = actingAs(caller, decided.agentName)
  const beside = decided.beside ?? []
  const isWritten = facts.length > 0 || idempotency !== undefined || beside.length > 0
  const last = isWritten ? await appendFacts({ db, root, project }, facts, { actor, at }) : null
  for (const one of beside) if (one.kind === 'project made') await make(db, one, { actor, at })
  await writeBeside({ db, projectId: project.id }, beside)
  const answer = 'answerFrom' in decided ? await decided.answerFrom(reads) : decided.answer
  if (!isWritten) return { answer, project: found, last }
  if (idempotency)
    await storeAnswer(db, idempotency, { projectId: project.id, answer, seq: last?.seq ?? 0, at })
  return { answer, project: { id: project.id, rootKnown: true }, last: facts.length > 0 ? last : null }
}

/** Whatever asks for it: nothing is worked at in the reserved project. */
function assertOfServer(facts: readonly NewFact[]): void {
  const strange = facts.find(({ kind }) => !belongsToServer(kind))
  if (!strange) return
  throw new Failure(
    'REFUSED',
    `Nothing is planned or worked at in the reserved project "${serverProject}", where persons and tokens are kept.`,
    {
      reason: 'project_name_reserved',
      hint: 'An admin makes a project: waymark project add <name>. Work in that one.',
    },
  )
}

/** A project of its own beside the one that is written to, which nobody else can know yet. */
async function make(
  db: Kysely<Tables>,
  { id, name, facts }: Extract<Beside, { readonly kind: 'project made' }>,
  by: By,
): Promise<void> {
  await appendFacts({ db, root: '', project: { id, rootKnown: true, exists: false } }, facts, by)
  await renameProject(db, id, name)
}

export interface Appending {
  readonly db: Kysely<Tables>
  readonly root: string
  /** The id that the project gets if it is not there yet. */
  readonly project: ResolvedProject & { readonly exists: boolean }
}

type By = Pick<RecordRequest<unknown>, 'actor' | 'at'>

/** Applies what happened and appends it to the journal, the facts last. Answers the last one. */
async function appendFacts(journal: Appending, facts: readonly NewFact[], by: By): Promise<Head> {
  // What was gathered may lack what could no longer be measured.
  processEnd.throwIfAborted()
  const { db, root, project } = journal
  const id = project.id as ProjectId // a brand
  const all: readonly NewFact[] = project.exists ? facts : [{ kind: 'project.created', id, root }, ...facts]
  const head = await headOf(journal)
  const heightsLater = all.filter(({ kind }) => kind === 'dependency.added').length > fewLinks
  const pause = breath()
  for (const [index, fact] of all.entries()) {
    const key = { projectId: id, seq: head.seq + 1 + index }
    const projecting = { db, ...key, at: by.at, actor: by.actor, heightsLater }
    // As the journal keeps it, so that the tables are the same when they are restored from there.
    await projectFact(projecting, wellFormed(fact))
    const waits = pause()
    if (waits) await waits
  }
  if (heightsLater) await makeHeights({ db, projectId: id })
  if (project.exists && !project.rootKnown) await seen({ db, projectId: id, at: by.at }, root)
  let last = head
  for (const batch of inBatches(sealed(all))) {
    const rows = factRows({ projectId: id, ...by }, batch, last)
    const row = rows.at(-1)
    if (row && rows.length === 1) await insertRow(db, 'fact', { ...row })
    else await db.insertInto('fact').values(rows).execute()
    if (row) last = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await advanced(db, last.seq, last.head, id)
  return last
}

const advanced = prepared((db, seq: number, head: string, id: string) =>
  db.updateTable('project').set({ seq, head }).where('id', '=', id),
)

/** With more, as an import has them, the heights of tasks are made once. */
export const fewLinks = 20

interface Head {
  readonly seq: number
  readonly head: string
}

async function headOf({ db, project }: Pick<Appending, 'db' | 'project'>): Promise<Head> {
  const state = await projectState(db, project.id)
  return state ? { seq: state.seq, head: state.hash } : { seq: 0, head: beforeFirst }
}
