import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again until it is so; the test's own limit ends what never is. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}
