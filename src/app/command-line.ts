import { homedir } from 'node:os'
import { runCommandLine } from '../surfaces/cli/run.ts'
import { printError, processTerminal, type Terminal } from '../surfaces/cli/terminal.ts'
import { closeContext, type OpenProjectOptions, openContext } from './open-context.ts'
import { version } from './program.ts'
import { connectedPlace, isProjectName, namedPlaceAtServer } from './remote/remote-project-location.ts'
import { commandLineActor } from './settings/actor.ts'
import { firstSetVariable, formatIn, userName } from './settings/environment.ts'
import { personName } from './settings/person-name.ts'
import { enclosingTree, projectFolder, relativeToProject } from './settings/project-location.ts'

/** Runs the words after `waymark` and returns the exit code. */
export function commandLine(
  words: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const environment = process.env
  const workingFolder = process.cwd()
  const actor = commandLineActor(environment, userName(), personName(environment, workingFolder))
  return runCommandLine(words, {
    operations: async () => (await import('../kernel/operations/catalog.ts')).catalog,
    frequent: frequentCommands,
    version,
    terminal,
    format: formatIn(environment),
    open: async (project) => {
      const opening = { actor, environment, workingFolder, tell: (line: string) => printError(`${line}\n`) }
      const elsewhere = await namedProject(project, opening)
      return openContext(elsewhere ? { ...opening, elsewhere } : { ...opening, project })
    },
    close: closeContext,
    ...(process.stdin.isTTY === true &&
      terminal.interactive && {
        confirm: async (question: string) => (await import('./remote/ask-person.ts')).askYesOrNo(question),
      }),
    firstPrompt: async (project) => (await import('./setup/setup.ts')).firstPromptHere(environment, project),
    locate: (path, project) => {
      const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
      const folder = projectFolder({ flag: project, environment, workingFolder }, (start) =>
        enclosingTree(start, home),
      )
      return relativeToProject(path, folder, workingFolder)
    },
    elsewhere: async (project) => {
      const connecting = { project, environment, workingFolder }
      const named = namedPlaceAtServer(connecting)
      const place = connectedPlace(named ? { ...connecting, project: undefined } : connecting)
      if (named && named.server.project !== place?.server.project) {
        const { askOtherProject } = await import('./remote/other-project.ts')
        return askOtherProject(named.server, actor)
      }
      if (place === null) return null
      const [{ askServer }, { askAtTerminal }] = await Promise.all([
        import('./remote/command-line-remote.ts'),
        import('./remote/ask-person.ts'),
      ])
      const opening = { actor, environment, workingFolder, project: named ? undefined : project }
      return askServer(place, { ...opening, askPerson: askAtTerminal() })
    },
  })
}

/** Commands that people type often: each loads nothing of the others. */
export const frequentCommands = {
  inbox: async () => (await import('../inbox/operations/inbox.ts')).inbox,
  log: async () => (await import('../events/operations/event-log.ts')).log,
  show: async () => (await import('../reports/operations/show.ts')).show,
  status: async () => (await import('../project/operations/status.ts')).status,
}

/** The project that `--project` names in the database, unless it is a folder. */
async function namedProject(project: string | undefined, opening: OpenProjectOptions) {
  if (project === undefined || !isProjectName({ project, workingFolder: opening.workingFolder })) return null
  const context = openContext(opening)
  try {
    if (!context.team) return null
    const { findTeamProject } = await import('../people/operations/team.ts')
    return await findTeamProject(context.team, project)
  } finally {
    await closeContext(context)
  }
}

/** Runs a command for its answer as JSON. A refusal is printed, and returned as JSON in `refusal`. */
export async function answerAsJson(
  words: readonly string[],
): Promise<{ readonly code: number; readonly output: string; readonly refusal: string }> {
  let refusal = ''
  const write = (text: string) => {
    refusal += text
  }
  const code = await commandLine([...words, '--json'], { ...processTerminal(), interactive: false, write })
  return isRefusal(code, refusal) ? { code, output: '', refusal } : { code, output: refusal, refusal: '' }
}

function isRefusal(code: number, output: string): boolean {
  if (code === 0 || output === '') return false
  const answer: unknown = JSON.parse(output)
  return typeof answer === 'object' && answer !== null && 'error' in answer
}
