/** How much of something a test does: less of it in `npm test`, all of it in `npm run test:soak`. */
export function amount({ test, soak }: { readonly test: number; readonly soak: number }): number {
  return process.env['WAYMARK_TEST_SOAK'] === '1' ? soak : test
}
