import { test } from 'vitest'

/**
 * A journey in a real browser: the only tests that are tried a second time, since a browser may lose its page for reasons
 * that are not ours. A journey that needed it is named as flaky at the end of the run.
 */
export function journey(name: string, run: () => Promise<void>, timeout = 120_000): void {
  test(name, { retry: 1, timeout }, run)
}
