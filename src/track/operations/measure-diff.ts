import { z } from 'zod'
import { leftOutReasons } from '../../git/ports/work-tree.ts'
import { list, names, path, place } from '../../kernel/operations/fields.ts'
import { measurement } from '../../kernel/operations/measurement.ts'

/** Most characters of a diff that is kept, and of all diffs that are measured for one answer. */
export const maxDiffLength = 4_000_000

/** The unified diffs between snapshots, of some paths or of all; null for a snapshot that is gone. */
export const unifiedDiffs = measurement({
  brief: z.strictObject({
    /** Of all of them together, in characters; what is longer is cut. */
    maxLength: z.int().min(1).max(maxDiffLength),
    parts: list(z.strictObject({ from: place, to: place, paths: names.nullable() }), 1_000),
  }),
  measured: list(
    z
      .strictObject({
        text: z.string().max(maxDiffLength),
        cut: z.boolean(),
        leftOut: list(z.strictObject({ path, why: z.enum(leftOutReasons) })),
      })
      .nullable(),
    1_000,
  ),
  fits: ({ parts }, diffs) => diffs.length === parts.length,
  measure: async ({ witness }, { maxLength: most, parts }) => {
    let left = most
    const diffs = await Promise.all(
      parts.map(({ from, to, paths }) => witness.unifiedDiff(from, to, paths ?? undefined)),
    )
    return diffs.map((diff) => {
      if (diff === null) return null
      const text = diff.text.slice(0, left)
      left -= text.length
      return { text, cut: text.length < diff.text.length, leftOut: diff.leftOut }
    })
  },
})
