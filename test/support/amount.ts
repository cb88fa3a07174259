import { test } from 'vitest'

const isSoak = process.env['WAYMARK_TEST_SOAK'] === '1'

/** How much of something a test does: less of it in `npm test`, all of it in `npm run test:soak`. */
export function amount({ test: few, soak }: { readonly test: number; readonly soak: number }): number {
  return isSoak ? soak : few
}

const leftOut = Object.assign(() => {}, { skipIf: () => () => {} }) as unknown as typeof test // only called, or asked to skip

/** A further or a long case that only `npm run test:soak` has; never the only one of a rule of trust or of lost data. */
export const soakTest: typeof test = isSoak ? test : leftOut
