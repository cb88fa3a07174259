import { isRunnerAlive, runnerName } from '../commands/runner-name.ts'
import type { CommandRunner } from '../ports/command-runner.ts'
import type { Environment } from './settings/environment.ts'

/** The runner of commands, loaded when one is started. */
export function deferredCommandRunner(environment: Environment): CommandRunner {
  let loading: Promise<CommandRunner> | null = null
  const load = async (): Promise<CommandRunner> => {
    const { commandRunner } = await import('../commands/command-runner.ts')
    return commandRunner(environment)
  }
  return {
    name: runnerName(),
    start: async (command) => {
      loading ??= load()
      return (await loading).start(command)
    },
    isAlive: isRunnerAlive,
    stop: async () => {
      if (loading) await (await loading).stop()
    },
  }
}
