import { catalog } from '../operations/catalog.ts'
import { runCommandLine } from '../surfaces/cli/run.ts'
import { processTerminal } from '../surfaces/cli/terminal.ts'
import { closeContext, openContext } from './open-context.ts'
import { version } from './program.ts'
import { commandLineActor } from './settings/actor.ts'
import { userName } from './settings/environment.ts'

/** Runs the words after `waymark` and answers the exit code. */
export function commandLine(words: readonly string[]): Promise<number> {
  const environment = process.env
  const actor = commandLineActor(environment, userName())
  return runCommandLine(words, {
    operations: catalog,
    version,
    terminal: processTerminal(),
    open: (project) => openContext({ actor, environment, workingFolder: process.cwd(), project }),
    close: closeContext,
  })
}
