import { z } from 'zod'
import { leftOutReasons } from '../../git/ports/work-tree.ts'
import { measuredList, names, path, place } from '../../kernel/operations/fields.ts'
import { measurement } from '../../kernel/operations/measurement-protocol.ts'

/** The limit for a stored diff, and for all diffs of one answer, in characters. */
export const maxDiffLength = 4_000_000

/** The unified diffs between snapshots, of some paths or of all; null for a snapshot that is gone. */
export const unifiedDiffs = measurement({
  brief: z.strictObject({
    /** The limit for all of them together, in characters; longer diffs are cut. */
    maxLength: z.int().min(1).max(maxDiffLength),
    parts: measuredList(z.strictObject({ from: place, to: place, paths: names.nullable() }), 1_000),
  }),
  measured: measuredList(
    z
      .strictObject({
        text: z.string().max(maxDiffLength),
        cut: z.boolean(),
        leftOut: measuredList(z.strictObject({ path, why: z.enum(leftOutReasons) })),
      })
      .nullable(),
    1_000,
  ),
  fits: ({ parts }, diffs) => diffs.length === parts.length,
  measure: async ({ witness }, { maxLength: budget, parts }) => {
    let remaining = budget
    const diffs = await Promise.all(
      parts.map(({ from, to, paths }) => witness.unifiedDiff(from, to, paths ?? undefined)),
    )
    return diffs.map((diff) => {
      if (diff === null) return null
      const text = diff.text.slice(0, remaining)
      remaining -= text.length
      return { text, cut: text.length < diff.text.length, leftOut: diff.leftOut }
    })
  },
})
