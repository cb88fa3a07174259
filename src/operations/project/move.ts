import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { Head, KeptRow, OtherPlace, Places, RecordEnd, RecordStanding } from '../../ports/moving.ts'
import { name, text } from '../input/fields.ts'
import { defineOperation, type Handling } from '../operation.ts'

export const move = defineOperation({
  name: 'move',
  command: 'move',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  title: 'Move the project to another database',
  description:
    'Takes the whole record to another file, or to PostgreSQL, or back. The old place then only answers. Interrupted, the same command goes on where it was.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({
    to: text('Where: postgres://user@host/database, or a file such as .waymark/waymark.db'),
    name: name('What it is called there, where several projects are kept; default: its folder').optional(),
  }),
  output: z.object({
    project_id: z.string(),
    from: z.string(),
    to: z.string(),
    facts: z.int(),
    moved: z.boolean(),
    next: z.string(),
  }),
}).handler(async (handling, input) => {
  const { places, actor } = handling
  if (!places || actor.channel !== 'cli') {
    throw new Failure(
      'FORBIDDEN',
      `A project is moved on the command line only, not over ${actor.channel}.`,
      {
        hint: `Run it in a terminal, in the folder of the project: waymark move --to ${withoutPassword(input.to)}`,
      },
    )
  }
  const other = await places.open(input.to, input.name ?? null)
  try {
    return await moveTo(handling, other, places)
  } finally {
    await other.close()
  }
})

async function moveTo(handling: Handling, other: OtherPlace, places: Places) {
  const here = await handling.store.end()
  const there = other.end
  const projectId = await here.projectId()
  const found = projectId === null ? null : await here.standing(projectId)
  if (projectId === null || found === null) throw nothingToMove(here.shown)
  if (other.isHere) return stayed(projectId, here.shown, found)
  const way: Way = { projectId, here, there }
  if (found.movedTo !== null && found.movedTo !== there.shown) throw wentElsewhere(here.shown, found.movedTo)
  const before = await there.standing(projectId)
  const isThere = await agree(way, found, before)
  if (!isThere) await bring(handling, way, { found, before, other, places })
  const facts = (await there.standing(projectId))?.seq ?? found.seq
  return {
    project_id: projectId,
    from: here.shown,
    to: there.shown,
    facts,
    moved: !isThere,
    next: other.lead(),
  }
}

interface Way {
  readonly projectId: string
  readonly here: RecordEnd
  readonly there: RecordEnd
}

/**
 * Whether the project was opened there already. Fails where neither record is the beginning of the other: what was
 * recorded at only one of them would be lost.
 */
async function agree(way: Way, found: RecordStanding, before: RecordStanding | null): Promise<boolean> {
  const { projectId, here, there } = way
  if (before === null) return false
  if (before.seq <= found.seq) {
    if (before.hash !== (await hashAt(here, projectId, before.seq))) throw parted(way, before)
    return false
  }
  if (found.hash !== (await hashAt(there, projectId, found.seq))) throw parted(way, before)
  if (before.movedTo !== null) throw wentElsewhere(there.shown, before.movedTo)
  // It was opened and used; the folder was not led there yet.
  if (found.movedTo !== null && !before.isArriving) return true
  throw parted(way, before)
}

async function hashAt(end: RecordEnd, projectId: string, seq: number): Promise<string> {
  if (seq === 0) return ''
  const [fact] = await end.factsAfter(projectId, seq - 1, 1)
  return fact?.seq === seq ? fact.hash : 'missing'
}

interface Bringing {
  readonly found: RecordStanding
  readonly before: RecordStanding | null
  readonly other: OtherPlace
  readonly places: Places
}

async function bring(
  handling: Handling,
  way: Way,
  { found, before, other, places }: Bringing,
): Promise<void> {
  const { projectId, here, there } = way
  const at = () => handling.clock.now()
  const kept = other.remember()
  if (kept !== null) places.tell(kept)
  await there.begin(projectId, {
    from: before && { seq: before.seq, hash: before.hash },
    at: at(),
    vouched: await isVouched(way),
  })
  places.tell(`${there.shown} is ready for the project.`)
  // While work goes on: only what comes meanwhile is left for the time in which nothing is recorded.
  if (found.movedTo === null) await copyFacts(way, before?.seq ?? 0, found, places)
  try {
    if (found.movedTo === null) await leave(handling, there.shown)
    places.tell(`Nothing is recorded in ${here.shown} any more.`)
    const head = await standing(here, projectId)
    await copyFacts(way, (await standing(there, projectId)).seq, head, places)
    await copyKept(way, places)
    await there.open(projectId, { head, from: here.shown, actor: handling.actor, at: at() })
    places.tell(`The project is open in ${there.shown}.`)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      error.code,
      `${error.message} The project has left ${here.shown}, and has not arrived yet.`,
      {
        hint: `Run the same command again: it goes on where it was. ${error.hint ?? ''}`.trim(),
        cause: error,
      },
    )
  }
}

/** What is remembered of a record that is gone there is the beginning of this one. */
async function isVouched({ projectId, here, there }: Way): Promise<boolean> {
  const known = await there.remembered()
  if (known === null || known.projectId !== projectId) return false
  return known.hash === (await hashAt(here, projectId, known.seq))
}

async function leave({ recordAside }: Handling, to: string): Promise<void> {
  await recordAside(async () => ({ facts: [{ kind: 'project.moved', to }], answer: {} }))
}

async function standing(end: RecordEnd, projectId: string): Promise<RecordStanding> {
  const found = await end.standing(projectId)
  if (found) return found
  throw new Failure('NOT_FOUND', `The project ${projectId} is gone from ${end.shown}.`)
}

const block = 500
const betweenLines = 5_000

async function copyFacts(
  { projectId, here, there }: Way,
  after: number,
  until: Head,
  { tell }: Places,
): Promise<void> {
  let seq = after
  let told = after
  while (seq < until.seq) {
    const facts = await here.factsAfter(projectId, seq, Math.min(block, until.seq - seq))
    const last = facts.at(-1)
    if (!last) throw new Failure('NOT_FOUND', `Fact ${seq + 1} is missing in ${here.shown}.`)
    await there.take(projectId, facts)
    seq = last.seq
    if (seq - told >= betweenLines || seq === until.seq) {
      tell(`${counted(seq)} of ${counted(until.seq)} facts are there.`)
      told = seq
    }
  }
}

// Each of them may hold some megabytes.
const keptAtOnce = 20

async function copyKept({ projectId, here, there }: Way, { tell }: Places): Promise<void> {
  let after: KeptRow | null = null
  let diffs = 0
  for (;;) {
    const rows: readonly KeptRow[] = await here.keptAfter(projectId, after, keptAtOnce)
    await there.keep(projectId, rows)
    diffs += rows.filter(({ table }) => table === 'attempt_diff').length
    after = rows.at(-1) ?? null
    if (after === null || rows.length < keptAtOnce) break
  }
  if (diffs > 0) tell(diffs === 1 ? '1 kept diff is there.' : `${counted(diffs)} kept diffs are there.`)
}

function counted(count: number): string {
  return count.toLocaleString('en')
}

function stayed(projectId: string, place: string, found: RecordStanding) {
  if (found.movedTo !== null) throw wentElsewhere(place, found.movedTo)
  const next = `The project is in ${place} already; nothing was moved.`
  return { project_id: projectId, from: place, to: place, facts: found.seq, moved: false, next }
}

function nothingToMove(shown: string): Failure {
  return new Failure('NOT_FOUND', `There is no record in ${shown}: nothing was moved.`, {
    hint: 'The record begins with the first write. For a new project set WAYMARK_DATABASE to where it should be.',
  })
}

function wentElsewhere(shown: string, to: string): Failure {
  return new Failure('REFUSED', `The project moved from ${shown} to ${to}: it is moved on from there.`, {
    hint: `Finish that move with \`waymark move --to\` and the address of ${to}, or set WAYMARK_DATABASE to it and move from there. Where ${to} is lost for good, \`waymark doctor --accept\` goes on with what is here.`,
  })
}

function parted({ here, there }: Way, { seq }: Head): Failure {
  return new Failure(
    'CONFLICT',
    `${there.shown} holds ${counted(seq)} facts of this project that are not the beginning of those in ${here.shown}: something was recorded there that is not here. Nothing was moved.`,
    {
      hint: `Look at both with \`waymark log\`. Move that record away, or remove it, if what is in ${here.shown} is right.`,
    },
  )
}

function withoutPassword(to: string): string {
  return to.replace(/^([a-z]+:\/\/)[^@/]*@/i, '$1')
}
