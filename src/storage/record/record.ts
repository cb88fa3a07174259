import type { Kysely } from 'kysely'
import type { NewFact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { IdSource, ProjectId } from '../../domain/id.ts'
import { belongsToServer, serverProject } from '../../domain/identity/identity.ts'
import type { Beside, RecordRequest } from '../../ports/store.ts'
import { wellFormed } from '../fingerprint.ts'
import { beforeFirst, factRows } from '../journal/journal.ts'
import { breath } from '../sqlite/waiting.ts'
import { makeHeights } from '../tables/dependency.ts'
import { renameProject } from '../tables/project-name.ts'
import { assertWrittenHere, projectState } from '../tables/project-place.ts'
import { projectFact } from '../tables/projections.ts'
import { inBatches } from '../tables/query.ts'
import { readsOf } from '../tables/reads.ts'
import { writeBeside } from '../tables/secret.ts'
import type { Tables } from '../tables/tables.ts'
import { storeAnswer, storedAnswer } from './idempotency.ts'
import { type ResolvedProject, seen } from './project.ts'
import { inSession } from './session.ts'

export interface Recorded<Answer> {
  readonly answer: Answer
  /** As it is now. Null when nothing was written and there is no project yet. */
  readonly project: ResolvedProject | null
  /** The last fact of the journal, by which it is told whether this was committed. Null when there was no fact. */
  readonly last: { readonly seq: number; readonly head: string } | null
}

/** Runs inside the one write transaction, which holds the project until it ends. */
export function record<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: Recording,
): Promise<Recorded<Answer>> {
  return inSession(db, (session) => decideAndAppend(session, request, place))
}

interface Recording {
  readonly root: string
  readonly ids: IdSource
  readonly found: ResolvedProject | null
  readonly project?: string
}

async function decideAndAppend<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: Recording,
): Promise<Recorded<Answer>> {
  const { idempotency, actor, at } = request
  const { found } = place
  const project = found
    ? { ...found, exists: true }
    : { id: place.project ?? place.ids.next('project'), rootKnown: false, exists: false }
  const [stored, state] = await Promise.all([
    idempotency && found ? storedAnswer(db, found.id, idempotency) : null,
    projectState(db, project.id), // asked again when facts are appended, and known by then
  ])
  if (stored) return { answer: stored.answer as Answer, project: found, last: null } // stored as this very answer
  if (state) assertWrittenHere(state)
  const reads = readsOf({ db, projectId: project.id })
  const decided = await request.decide(reads)
  const { facts } = decided
  const beside = decided.beside ?? []
  const isWritten = facts.length > 0 || idempotency !== undefined || beside.length > 0
  if (project.id === serverProject) assertOfServer(facts)
  const last = isWritten ? await append({ db, root: place.root, project }, facts, { actor, at }) : null
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
    { hint: 'An admin makes a project: waymark project add <name>. Work in that one.' },
  )
}

/** A project of its own beside the one that is written to, which nobody else can know yet. */
async function make(
  db: Kysely<Tables>,
  { id, name, facts }: Extract<Beside, { readonly kind: 'project made' }>,
  by: By,
): Promise<void> {
  await append({ db, root: '', project: { id, rootKnown: true, exists: false } }, facts, by)
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
async function append(journal: Appending, facts: readonly NewFact[], by: By): Promise<Head> {
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
  for (const batch of inBatches(all)) {
    const rows = factRows({ projectId: id, ...by }, batch, last)
    await db.insertInto('fact').values(rows).execute()
    const row = rows.at(-1)
    if (row) last = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await db.updateTable('project').set(last).where('id', '=', id).execute()
  return last
}

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
