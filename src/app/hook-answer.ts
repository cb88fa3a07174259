import { existsSync } from 'node:fs'
import { hookClients } from '../clients/hooks/hook-clients.ts'
import type { Store } from '../store/ports/store.ts'
import { runHook } from '../surfaces/hook/gate-hook.ts'
import type { HookRequest } from '../surfaces/hook/hook-socket.ts'
import { localHookProject } from './local-hook-project.ts'
import type { Environment } from './settings/environment.ts'
import { mainTree, projectRoot } from './settings/project-location.ts'

export interface AnsweredHook {
  /** The server's. */
  readonly environment: Environment
  readonly root: string
  readonly request: HookRequest
}

/** A server's answer to a hook; null leaves the call to the hook itself. */
export async function answerHook(
  store: Store,
  { environment, root, request }: AnsweredHook,
): Promise<string | null> {
  const { event, input, top, caller, workingFolder } = request
  if (!hookClients.some(({ name }) => name === caller.client)) return null
  if (!existsSync(top) || projectRoot(mainTree(top)) !== root) return null
  const project = localHookProject({
    store,
    openForWriting: async () => store,
    environment,
    top,
    root,
    callerOf: () => caller,
  })
  const host = { workingFolder, input: async () => input, open: async () => project }
  const { out, complaint } = await runHook(event, host)
  return complaint === null ? out : null
}
