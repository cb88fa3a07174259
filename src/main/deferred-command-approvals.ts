import type { CommandApprovals } from '../ports/command-runner.ts'

/** What a person allowed to be run, loaded when it is asked for. */
export function deferredCommandApprovals(stateFolder: string): CommandApprovals {
  const approvals = async (): Promise<CommandApprovals> => {
    const { commandApprovals } = await import('../commands/command-approvals.ts')
    return commandApprovals(stateFolder)
  }
  return {
    hashOf: async (command) => (await approvals()).hashOf(command),
    filesOf: async (command) => (await approvals()).filesOf(command),
    isApproved: async (hash) => (await approvals()).isApproved(hash),
    approve: async (approval) => (await approvals()).approve(approval),
    list: async (folders) => (await approvals()).list(folders),
    refuse: async (refusal) => (await approvals()).refuse(refusal),
    refusalOf: async (hash) => (await approvals()).refusalOf(hash),
    refused: async (folders) => (await approvals()).refused(folders),
    revoke: async (hash) => (await approvals()).revoke(hash),
  }
}
