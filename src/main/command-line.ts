import { catalog } from '../operations/catalog.ts'
import { runCommandLine } from '../surfaces/cli/run.ts'
import { processTerminal, tell } from '../surfaces/cli/terminal.ts'
import { connectedAt } from './edge/connected.ts'
import { closeContext, openContext } from './open-context.ts'
import { version } from './program.ts'
import { commandLineActor } from './settings/actor.ts'
import { userName } from './settings/environment.ts'

/** Runs the words after `waymark` and answers the exit code. */
export function commandLine(words: readonly string[]): Promise<number> {
  const environment = process.env
  const workingFolder = process.cwd()
  const actor = commandLineActor(environment, userName())
  return runCommandLine(words, {
    operations: catalog,
    version,
    terminal: processTerminal(),
    open: (project) =>
      openContext({
        actor,
        environment,
        workingFolder,
        project,
        tell: (line) => tell(`${line}\n`),
      }),
    close: closeContext,
    elsewhere: async (project) => {
      const place = connectedAt({ project, environment, workingFolder })
      if (place === null) return null
      const { askServer } = await import('./edge/command-line-edge.ts')
      return askServer(place, { actor, environment, workingFolder, project })
    },
  })
}
