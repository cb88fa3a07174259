import { test } from 'vitest'

const isSoak = process.env['WAYMARK_TEST_SOAK'] === '1'

/** How much of something a test does: less of it in `npm test`, all of it in `npm run test:soak`. */
export function amount({ test: few, soak }: { readonly test: number; readonly soak: number }): number {
  return isSoak ? soak : few
}

const leftOut = Object.assign(() => {}, { skipIf: () => () => {} }) as unknown as typeof test // of what is used of it

/** A test of `npm run test:soak` alone: `npm test` has another one of its kind, or a smaller one. */
export const soakTest: typeof test = isSoak ? test : leftOut
