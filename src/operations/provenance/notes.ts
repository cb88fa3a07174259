import { z } from 'zod'
import type { NewFact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { LineClaim } from '../../domain/provenance/claims.ts'
import { changedNote, changedTraces, type NoteChange } from '../../domain/provenance/notes.ts'
import { counted } from '../../domain/text.ts'
import {
  type CommitNote,
  type ForeignWords,
  type FoundNotes,
  type NotesRef,
  noteRefs,
} from '../../ports/line-history.ts'
import { strings } from '../answers/list.ts'
import { choice, text } from '../input/fields.ts'
import { type Context, defineOperation } from '../operation.ts'
import { readClaims } from './claims.ts'
import { formatted, range } from './export.ts'

export const provenanceWrite = defineOperation({
  name: 'provenance_write',
  command: 'provenance write',
  toolset: 'track',
  audience: 'person',
  title: 'Write whose lines are whose into git notes',
  description:
    'Adds a note to each commit of a range: git-ai’s in refs/notes/ai, or Agent Trace in refs/notes/waymark. This alone writes to the repository; push the ref yourself. A note of somebody else is never touched without --merge.',
  kind: 'command',
  idempotent: true,
  positional: ['range'],
  input: z.strictObject({
    range: range.optional(),
    format: choice(['git-ai', 'agent-trace'], 'git-ai’s notes, or records of Agent Trace').optional(),
    merge: z.boolean().describe('Add to notes of others: theirs stay, and stand first').optional(),
  }),
  output: z.object({
    ref: z.enum(noteRefs),
    commits: z.int(),
    /** The commits that have another note now. */
    written: strings,
    /** How many had it already. */
    unchanged: z.int(),
    warnings: strings,
  }),
}).handler(async (context, input) => {
  const { witness, folder } = context
  const format = input.format ?? 'git-ai'
  const ref: NotesRef = format === 'git-ai' ? 'refs/notes/ai' : 'refs/notes/waymark'
  const { commits, records, notes, warnings } = await formatted(context, input.range ?? 'HEAD')
  const own: readonly CommitNote[] =
    format === 'git-ai'
      ? notes.map(({ commit, note }) => ({ commit, text: note }))
      : records.map(({ commit, record }) => ({ commit, text: `${JSON.stringify(record)}\n` }))
  if (own.length === 0) {
    return { ref, commits, written: [], unchanged: 0, warnings: [...warnings, nothingKnown(commits)] }
  }
  const ids = own.map(({ commit }) => commit)
  for (let round = 1; round <= mostRounds; round += 1) {
    const found = await witness.history.notes(folder, ref, ids)
    const changed = changedNotes({ own, found, ref }, input.merge ?? false)
    const written = changed.map(({ commit }) => commit)
    const answer = { ref, commits, written, unchanged: own.length - written.length, warnings }
    if (changed.length === 0) return answer
    const message = `Whose lines are whose, for ${counted(changed.length, 'commit')}`
    if (await witness.history.writeNotes({ folder, ref, tip: found.tip, notes: changed, message }))
      return answer
    await pause(round)
  }
  throw new Failure('CONFLICT', `${ref} moved each time that notes were to be written; none were.`, {
    hint: 'Somebody else writes notes there all the time: call again later.',
  })
})

// Of many writers at once one is through at each round.
const mostRounds = 60

/** Not all of them at the same time again. */
function pause(round: number): Promise<void> {
  const most = Math.min(200, 10 * round)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}

function nothingKnown(commits: number): string {
  return `Of no line of ${counted(commits, 'commit')} it is known which agent made it: nothing was written.`
}

interface Standing {
  readonly own: readonly CommitNote[]
  readonly found: FoundNotes
  readonly ref: NotesRef
}

/** The notes that are not as they should be. Fails where one of somebody else is in the way. */
function changedNotes({ own, found, ref }: Standing, merge: boolean): CommitNote[] {
  const standing = new Map(found.notes.map(({ commit, text }) => [commit, text]))
  const changing = ref === 'refs/notes/ai' ? changedNote : changedTraces
  const changes = own.map(({ commit, text }): { readonly commit: string; readonly change: NoteChange } => ({
    commit,
    change: changing({ standing: standing.get(commit) ?? null, own: text, merge }),
  }))
  const inTheWay = (kind: NoteChange['kind']) =>
    changes.filter(({ change }) => change.kind === kind).map(({ commit }) => commit.slice(0, 12))
  const unreadable = inTheWay('unreadable')
  if (unreadable.length > 0) {
    throw new Failure(
      'REFUSED',
      `${ref} has ${unreadable.length === 1 ? 'a note' : 'notes'} that nothing can be added to: ${named(unreadable)}. Nothing was written.`,
      {
        hint: `Look at it with git notes --ref ${ref} show ${unreadable[0]}; leave that commit out of the range.`,
      },
    )
  }
  const foreign = inTheWay('foreign')
  if (foreign.length > 0) {
    throw new Failure(
      'REFUSED',
      `${ref} has ${foreign.length === 1 ? 'a note' : 'notes'} of somebody else: ${named(foreign)}. Nothing was written.`,
      { hint: 'With --merge ours are added to them: theirs stay, and stand first.' },
    )
  }
  return changes.flatMap(({ commit, change }) =>
    change.kind === 'write' ? [{ commit, text: change.text }] : [],
  )
}

const mostNamed = 5

function named(commits: readonly string[]): string {
  const some = commits.slice(0, mostNamed).join(', ')
  return commits.length > mostNamed ? `${some} and ${commits.length - mostNamed} more` : some
}

export const provenanceImport = defineOperation({
  name: 'provenance_import',
  command: 'provenance import',
  toolset: 'track',
  audience: 'person',
  title: 'Import what others say of lines',
  description:
    'Keeps what other tools say of lines, as claims and never as measured: a file of Agent Trace or of our own export, or the word notes for all notes of the repository.',
  kind: 'command',
  idempotent: true,
  positional: ['from'],
  paths: { from: ['notes'] },
  input: z.strictObject({
    from: text('A file of Agent Trace records or of git-ai’s notes, or notes'),
  }),
  output: z.object({
    sources: strings,
    /** Claims: lines of one file of a commit, as one tool says. */
    imported: z.int(),
    /** Those that were there already. */
    known: z.int(),
    commits: z.int(),
    warnings: strings,
  }),
}).handler(async (context, { from }) => {
  const words = from === 'notes' ? await notesOf(context) : await fileOf(context, from)
  const { claims, troubles } = readClaims(words)
  if (claims.length === 0) {
    throw new Failure(
      'INVALID_INPUT',
      `Nothing in ${from} says whose lines are.${troubles.map((one) => ` ${one}`).join('')}`,
      {
        hint: 'Give a file of Agent Trace (a record a line), what waymark provenance export printed, or the word notes.',
      },
    )
  }
  const commits = [...new Set(claims.map(({ commit }) => commit))]
  return context.record(async ({ lines }) => {
    const known = new Set((await lines.claims(commits)).map(keyOf))
    const fresh = [...new Map(claims.map((claim) => [keyOf(claim), claim])).values()].filter(
      (claim) => !known.has(keyOf(claim)),
    )
    const facts: NewFact[] = []
    for (const source of new Set(fresh.map((claim) => claim.source))) {
      const own = fresh.filter((claim) => claim.source === source)
      for (let at = 0; at < own.length; at += mostInFact) {
        facts.push({ kind: 'claims.imported', source, claims: own.slice(at, at + mostInFact) })
      }
    }
    const answer = {
      sources: [...new Set(claims.map(({ source }) => source))],
      imported: fresh.length,
      known: claims.length - fresh.length,
      commits: commits.length,
      warnings: troubles,
    }
    return { facts, answer }
  })
})

const mostInFact = 500

function keyOf(claim: LineClaim): string {
  const { source, commit, path, ranges, by, name, model, conversation, attempt } = claim
  return JSON.stringify([source, commit, path, ranges, by, name, model, conversation, attempt])
}

async function notesOf({ witness, folder }: Context): Promise<readonly ForeignWords[]> {
  const words: ForeignWords[] = []
  for (const ref of noteRefs) {
    const { notes } = await witness.history.notes(folder, ref, null)
    words.push(...notes.map(({ commit, text: written }) => ({ source: ref, commit, text: written })))
  }
  if (words.length > 0) return words
  throw new Failure('NOT_FOUND', `There are no notes in ${noteRefs.join(' or ')}.`, {
    hint: 'Fetch them first: git fetch origin refs/notes/ai:refs/notes/ai',
  })
}

/** Notes below the lines `commit <id>`, as the export prints them, or records. */
async function fileOf({ witness, folder }: Context, file: string): Promise<readonly ForeignWords[]> {
  const content = await witness.history.words(folder, file)
  if (!/^commit [0-9a-f]{40,64}$/m.test(content.slice(0, 100))) {
    return [{ source: file, commit: null, text: content }]
  }
  return content
    .split(/^(?=commit [0-9a-f]{40,64}$)/m)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const end = part.indexOf('\n')
      return {
        source: file,
        commit: part.slice(0, end).trim().split(' ')[1] ?? null,
        text: part.slice(end + 1),
      }
    })
}
