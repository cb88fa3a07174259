import type { CommandEnd, CommandRunner } from '../ports/command-runner.ts'
import { commandEnvironment } from './command-environment.ts'
import { isRunnerAlive, runnerName } from './runner-name.ts'
import { RunningCommand } from './running-command.ts'

/** Runs commands on this machine. */
export function commandRunner(environment: NodeJS.ProcessEnv = process.env): CommandRunner {
  const running = new Set<RunningCommand>()
  return {
    name: runnerName(),
    start: async (line): Promise<CommandEnd> => {
      let command: RunningCommand
      try {
        command = new RunningCommand(line, commandEnvironment(environment))
      } catch (error) {
        // Node refuses a NUL byte before it starts anything.
        const reason = error instanceof Error ? error.message : String(error)
        return { status: 'failed', exitCode: null, output: `The command could not be started: ${reason}` }
      }
      running.add(command)
      const end = await command.ended
      running.delete(command)
      return end
    },
    isAlive: isRunnerAlive,
    stop: async () => {
      await Promise.all([...running].map((command) => command.stop()))
    },
  }
}
