import { z } from 'zod'
import { agentTrace, gitAiNote, noteNames } from '../../domain/provenance/agent-trace.ts'
import { list, strings } from '../answers/list.ts'
import { choice, text } from '../input/fields.ts'
import { type Answer, type Context, defineOperation } from '../operation.ts'
import { mostTraced, tracedCommits } from './traced.ts'

export const range = text('A commit, or a range of them: main..HEAD; HEAD when left out')

export const provenanceExport = defineOperation({
  name: 'provenance_export',
  command: 'provenance export',
  toolset: 'track',
  audience: 'both',
  title: 'Whose lines are whose, in an open format',
  description:
    'One record for each commit of a range: Agent Trace 0.1.0, or the notes of git-ai. Nothing is written to the repository.',
  kind: 'query',
  positional: ['range'],
  input: z.strictObject({
    range: range.optional(),
    format: choice(['agent-trace', 'git-ai'], 'Agent Trace, or notes as git-ai reads them').optional(),
  }),
  output: z.object({
    format: z.enum(['agent-trace', 'git-ai']),
    /** Agent Trace: one record for a commit with a known line. */
    records: list(z.record(z.string(), z.unknown())),
    /** git-ai: the note of each such commit. */
    notes: list(z.object({ commit: z.string(), note: z.string() })),
    commits: z.int(),
    warnings: strings,
  }),
  print: printed,
}).handler(async (context, input) => {
  const format = input.format ?? 'agent-trace'
  const { commits, records, notes, warnings } = await formatted(context, input.range ?? 'HEAD')
  return {
    format,
    records: format === 'agent-trace' ? records.map(({ record }) => ({ ...record })) : [],
    notes: format === 'git-ai' ? notes : [],
    commits,
    warnings,
  }
})

/** What is known of the commits of a range, in both formats, each commit with a known line once. */
export async function formatted(context: Context, range: string) {
  const { witness, store, program } = context
  const { commits, isCut } = await tracedCommits(context, range)
  const head = await store.view(({ journal }) => journal.head())
  const salt = await store.view(({ lines }) => lines.salt())
  const named = async (names: readonly string[], make: (name: string) => Promise<string>) => {
    const made = new Map(await Promise.all(names.map(async (name) => [name, await make(name)] as const)))
    return (name: string) => made.get(name) ?? ''
  }
  const uuid = await named(
    commits.map(({ id }) => id),
    (id) => witness.history.uuid(`${salt}/${id}`),
  )
  const digest = await named(commits.flatMap(noteNames), witness.history.digest)
  const tracing = { version: program.version, head, uuid }
  return {
    commits: commits.length,
    records: commits.flatMap((commit) => {
      const record = agentTrace(commit, tracing)
      return record === null ? [] : [{ commit: commit.id, record }]
    }),
    notes: commits.flatMap((commit) => {
      const note = gitAiNote(commit, digest)
      return note === null ? [] : [{ commit: commit.id, note }]
    }),
    warnings: isCut ? [`Only the newest ${mostTraced} commits of the range were looked at.`] : [],
  }
}

const exported = z.object({
  format: z.string(),
  records: list(z.unknown()),
  notes: list(z.object({ commit: z.string(), note: z.string() })),
})

/** A record a line, as `.agent-trace/traces.jsonl` has them; or the notes, each below its commit. */
function printed(answer: Answer): readonly string[] {
  const { format, records, notes } = exported.parse(answer)
  if (format === 'agent-trace') return [records.map((record) => JSON.stringify(record)).join('\n')]
  return [notes.map(({ commit, note }) => `commit ${commit}\n${note}`).join('\n')]
}

export const trailer = defineOperation({
  name: 'trailer',
  command: 'trailer',
  toolset: 'track',
  audience: 'both',
  title: 'The trailers of a commit',
  description:
    'A line “Waymark-Task: t-…” for each task whose lines a commit brought, to be put at the end of its message by whoever wants it there. Nothing reads them again.',
  kind: 'query',
  positional: ['commit'],
  input: z.strictObject({ commit: text('A commit; HEAD when left out').optional() }),
  output: z.object({ commit: z.string(), trailers: strings }),
  print: (answer) => [z.object({ trailers: strings }).parse(answer).trailers.join('\n')],
}).handler(async (context, { commit = 'HEAD' }) => {
  const { commits } = await tracedCommits(context, commit)
  const tasks = commits.flatMap(({ files }) =>
    files.flatMap(({ ranges }) => ranges.flatMap(({ task, attempts }) => (attempts ? [] : (task ?? [])))),
  )
  return {
    commit: commits.at(-1)?.id ?? commit,
    trailers: [...new Set(tasks)].sort().map((task) => `Waymark-Task: ${task}`),
  }
})
