import { z } from 'zod'
import type { NewFact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { StepPlace } from '../../domain/provenance/step.ts'
import { counted } from '../../domain/text.ts'
import type { Beside } from '../../ports/store.ts'
import { text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const provenanceForget = defineOperation({
  name: 'provenance_forget',
  command: 'provenance forget',
  toolset: 'track',
  audience: 'person',
  title: 'Forget the hashes of a file’s lines',
  description:
    'Removes the hashes of the lines of a file, or of all files below a folder, also under earlier names. Where lines went and came stays, so that contents that were recorded are still known; lines of rewritten commits are not.',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['path'],
  input: z.strictObject({ path: text('The file or folder, from the top of the work tree') }),
  output: z.object({
    path: z.string(),
    /** Changes of files whose lines have no hashes any more. */
    changes: z.int(),
    says: z.string(),
  }),
}).handler((handling, input) =>
  handling.record(async ({ lines }) => {
    const path = input.path.replace(/^(:?\/|\.\/)+/, '').replace(/\/+$/, '')
    if (path === '' || path === '.') {
      throw new Failure(
        'INVALID_INPUT',
        `"${input.path}" names no file or folder below the top of the work tree.`,
        {
          hint: 'Name one, as in src/auth.ts. To record no lines at all: waymark setting set lines off',
        },
      )
    }
    const steps = await lines.stepsBelow(path)
    if (steps.length === 0 && (await lines.stepsOf([path])).length === 0) throw nothingKept(path)
    const says =
      steps.length === 0
        ? `No hashes of lines of ${path} are kept.`
        : `Forgot the hashes of ${counted(steps.length, 'change')} of ${path}. Backups and exports made before still have them; what changes there from now on is recorded again.`
    return { ...forgetting(path, steps), answer: { path, changes: steps.length, says } }
  }),
)

function nothingKept(path: string): Failure {
  const what = `No hashes of lines are kept of a file ${path}, or of files below a folder of that name.`
  return new Failure('NOT_FOUND', what, {
    hint: 'Give the path from the top of the work tree, as waymark changes shows it.',
  })
}

const mostInFact = 2_000

/** The facts that hashes are forgotten with, and what is removed from older facts beside them. */
export function forgetting(
  of: string,
  steps: readonly StepPlace[],
): { readonly facts: readonly NewFact[]; readonly beside: readonly Beside[] } {
  if (steps.length === 0) return { facts: [], beside: [] }
  const facts: NewFact[] = []
  for (let at = 0; at < steps.length; at += mostInFact) {
    facts.push({ kind: 'lines.forgotten', of, steps: steps.slice(at, at + mostInFact) })
  }
  return { facts, beside: [{ kind: 'line hashes forgotten', steps }] }
}
