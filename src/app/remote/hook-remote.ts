import { Failure } from '../../kernel/failure.ts'
import { hasClosedHooks, thisMachine } from '../../remote/machine/known-servers.ts'
import { briefingFromBrief, hookBrief, situationIn } from '../../remote/machine/remote-gate-hook.ts'
import { ServerClient } from '../../remote/machine/server-client.ts'
import type { HookProject } from '../../surfaces/hook/gate-hook.ts'
import { version } from '../program.ts'
import type { RemoteProjectLocation } from './remote-project-location.ts'

/** Opens a project at a server for a hook. Null if its state is unknown here. */
export async function openRemoteHook(
  { server, root, folder, machineName }: RemoteProjectLocation,
  top: string,
  timeout?: number,
): Promise<Omit<HookProject, 'guard'> | null> {
  const client = new ServerClient(server)
  const packages = async (place: Parameters<Parameters<typeof situationIn>[1]>[0]) => {
    const { workspacePackages } = await import('../../git/recorded-state.ts')
    return workspacePackages(place)
  }
  const parts = {
    client,
    machine: thisMachine(folder, server.origin, machineName),
    version,
    packages,
    ...(timeout !== undefined && { timeout }),
  }
  const brief = await hookBrief(parts, top)
  if (brief === null) {
    if (!hasClosedHooks(root)) return null
    const failure = new Failure(
      'UNAVAILABLE',
      `The server ${server.origin} cannot be reached, and the state of this project is unknown here.`,
      { reason: 'server_unreachable' },
    )
    return { top, look: () => Promise.reject(failure), isClosed: async () => true }
  }
  const situation = await situationIn(brief, packages)
  return {
    top,
    look: (judge) => judge({ situation, briefing: async () => briefingFromBrief(brief, situation) }),
    isClosed: async () => situation.settings.get('hook_on_error') === 'closed' || hasClosedHooks(root),
  }
}
