import { z } from 'zod'
import type { Fact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { KeptRow } from '../../ports/moving.ts'
import type { Handling } from '../operation.ts'

/** The first line of an exported journal: what the file is. */
export const journalMark = { waymark: 'journal', version: 1 } as const

const line = z.object({
  seq: z.int().min(1),
  at: z.int(),
  version: z.int(),
  // With whatever else it says of who acted: the hash vouches for it.
  actor: z.looseObject({
    name: z.string(),
    kind: z.enum(['agent', 'person']),
    role: z.string().nullable(),
    channel: z.enum(['stdio', 'http', 'cli', 'dashboard', 'elicitation']),
    connection: z.string().optional(),
    insideCommand: z.literal(true).optional(),
    identity: z.string().optional(),
    token: z.string().optional(),
    person: z.string().optional(),
    edge: z.string().optional(),
    doneAt: z.number().optional(),
    runner: z.literal(true).optional(),
  }),
  happening: z.looseObject({ kind: z.string() }),
  hash: z.string(),
})

/** A fact as a line of an exported journal. */
export function writeFact({ body, hash, ...fact }: Fact): string {
  return JSON.stringify({ ...fact, happening: body, hash })
}

const diffLine = z.object({
  diff: z.object({
    attempt_id: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    cut: z.int(),
    content: z.object({ base64: z.string() }),
  }),
})

const outputLine = z.object({
  output: z.object({
    command_id: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    content: z.object({ base64: z.string() }),
    removed_at: z.int().nullable(),
  }),
})

/** What an attempt changed, line by line, or what a command printed, as a line after the facts. */
export function writeKept({ table, values }: KeptRow): string {
  const { project_id: _, ...kept } = values
  return JSON.stringify(table === 'attempt_diff' ? { diff: kept } : { output: kept })
}

function readKept(text: string, number: number): KeptRow {
  const said = jsonOf(text, number)
  const diff = diffLine.safeParse(said)
  if (diff.success) return { table: 'attempt_diff', values: diff.data.diff }
  const output = outputLine.safeParse(said)
  if (output.success) return { table: 'command_output', values: output.data.output }
  throw new Failure('INVALID_INPUT', `Line ${number} is not a kept diff, nor what a command printed.`, {
    hint: 'Restore a journal as `waymark export` writes it.',
  })
}

/** Reads a line back. What is in its body is vouched for by its hash, which the store checks. */
export function readFact(text: string, number: number): Fact {
  const parsed = line.safeParse(jsonOf(text, number))
  if (parsed.success) {
    const { happening: body, ...fact } = parsed.data
    return { ...fact, body } as unknown as Fact // the hash vouches for the rest
  }
  throw new Failure(
    'INVALID_INPUT',
    `Line ${number} is not a fact of a journal: ${parsed.error.issues[0]?.path.join('.')} is wrong.`,
    {
      hint: 'Restore a journal as `waymark export` writes it.',
    },
  )
}

function jsonOf(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure('INVALID_INPUT', `Line ${number} of the journal is not JSON.`, {
      hint: 'The file may be cut short: export it again.',
    })
  }
}

/** Restores an exported project, all of it or nothing. */
export async function restoreJournal({ store }: Handling, lines: readonly string[], dryRun: boolean) {
  const firstKept = lines.findIndex((text) => /^\{"(?:diff|output)":/.test(text))
  const ofFacts = firstKept < 0 ? lines : lines.slice(0, firstKept)
  const facts = ofFacts.map((text, index) => readFact(text, index + 2))
  const kept = lines.slice(ofFacts.length).map((text, index) => readKept(text, index + 2 + ofFacts.length))
  if (!dryRun) {
    await store.restore(facts)
    const end = await store.end()
    const projectId = await end.projectId()
    if (projectId !== null && kept.length > 0) await end.keep(projectId, kept)
  }
  return { format: 'journal', facts: facts.length, notices: [], ...(dryRun && { dry_run: true as const }) }
}
