import { join } from 'node:path'
import { settingOf } from '../gate/domain/settings.ts'
import { writePrivate } from '../kernel/files/private-file.ts'
import { readOwn } from '../kernel/files/regular-file.ts'
import type { Context } from '../kernel/operations/operation.ts'
import type { Environment } from './settings/environment.ts'

/** A history may be long: the measurement continues after this. */
const waitMs = 3_000
const maxMarkBytes = 5_000

/** Measures what landed. Waymark is the author of what this records. */
export async function measureLandings(context: Context): Promise<void> {
  const [{ invoke }, { measureLanded }, { waymark }] = await Promise.all([
    import('../kernel/operations/invoke.ts'),
    import('../track/operations/landed.ts'),
    import('../inbox/operations/due-items.ts'),
  ])
  await invoke(measureLanded, { ...context, actor: waymark }, {})
}

/** Measures what landed, if the default branch moved or an attempt ended since this was last done here. */
export async function refreshLandings(
  context: Context,
  stateFolder: () => string,
  environment: Environment,
): Promise<void> {
  const { store, folder } = context
  const { ended, branch } = await store.view(async ({ landings, runs }) => ({
    ended: await landings.lastEnd(),
    branch: settingOf(await runs.settings(), 'default_branch'),
  }))
  if (ended === null) return
  const { landingTip } = await import('../git/landing.ts')
  const tip = await landingTip(folder, branch === 'automatic' ? null : branch, environment)
  if (tip === null || !markAsMeasured(stateFolder(), `${ended} ${tip}`)) return
  const { waitAtMost } = await import('../gate/operations/run/commands.ts')
  await waitAtMost(waitMs, measureLandings(context))
}

/** Marked before it is measured: a measurement that takes too long, or fails, is not begun by every reader. */
function markAsMeasured(folder: string, mark: string): boolean {
  const file = join(folder, 'landings-measured')
  if (readOwn(file, maxMarkBytes)?.toString() === mark) return false
  writePrivate(file, mark)
  return true
}
