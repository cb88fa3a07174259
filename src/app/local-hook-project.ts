import { settingOf } from '../gate/domain/settings.ts'
import type { GuardCaller } from '../gate/operations/guard-git.ts'
import { hookSituation, readBriefing } from '../gate/operations/hook.ts'
import type { WorkTreeWitness } from '../git/ports/work-tree.ts'
import type { JsonObject } from '../kernel/json.ts'
import type { Store } from '../store/ports/store.ts'
import type { HookProject } from '../surfaces/hook/gate-hook.ts'
import type { Environment } from './settings/environment.ts'

export interface LocalHookOptions {
  readonly store: Store
  /** The store that records what a guard kept. */
  readonly openForWriting: (anchorFolder: (database: string) => string) => Promise<Store | null>
  readonly environment: Environment
  /** The top folder of the hook's work tree. */
  readonly top: string
  readonly root: string
  readonly callerOf: (payload: JsonObject) => GuardCaller | Promise<GuardCaller>
}

/** A project of this machine, as a hook judges it. */
export function localHookProject(options: LocalHookOptions): HookProject {
  const { store, environment, top, root, callerOf } = options
  return {
    top,
    look: (judge) =>
      store.view(async (reads) => {
        const situation = await hookSituation(reads, { top, packages })
        return judge({ situation, briefing: () => readBriefing(reads, situation) })
      }),
    isClosed: async () => {
      const settings = await store.view(({ runs }) => runs.settings())
      return settingOf(settings, 'hook_on_error') === 'closed'
    },
    checkStop: async ({ folder, payload }) => {
      const { checkStop } = await import('./git-guard.ts')
      return checkStop({ folder, caller: await callerOf(payload), environment, top, root }, store)
    },
    guard: async (request) => {
      const { guardLocally } = await import('./git-guard.ts')
      const caller = await callerOf(request.payload)
      return guardLocally({ ...request, caller, environment, top, root }, store, options.openForWriting)
    },
  }
}

const packages: WorkTreeWitness['packages'] = async (place) => {
  const { workspacePackages } = await import('../git/recorded-state.ts')
  return workspacePackages(place)
}
