import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { nearest } from '../domain/nearest-word.ts'
import { tell } from '../surfaces/cli/process-terminal.ts'
import { printableJson } from '../surfaces/cli/text/printable.ts'
import { hookEvents } from '../surfaces/hook/hook-call.ts'
import { type HookProject, runHook } from '../surfaces/hook/run-hook.ts'
import { firstSet } from './settings/environment.ts'
import { hookPlaces } from './settings/hook-place.ts'
import { wholeInput } from './whole-input.ts'

/** Answers a client's hook: what it says comes on standard input, and the answer goes to standard output. */
export async function hook([word = '', ...rest]: readonly string[]): Promise<void> {
  const event = hookEvents.find((known) => known === word)
  if (event === undefined || rest.length > 0) return misspelt([word, ...rest].join(' '))
  const { out, complaint } = await runHook(event, { workingFolder: process.cwd(), input: wholeInput, open })
  if (complaint !== null) tell(`${complaint.replace(/\s+/g, ' ')}\n`)
  // Written whole before the exit, which does not wait for what a locked database is still asked.
  if (out !== '')
    await new Promise<void>((resolve) => process.stdout.write(printableJson(out), () => resolve()))
  process.exit(0)
}

async function open(folder: string): Promise<HookProject | null> {
  const environment = process.env
  const home = firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  // A client starts its servers in its project's folder; the agent may have gone elsewhere since.
  const working = firstSet(environment, ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR']) ?? process.cwd()
  const { top, root, database } = hookPlaces(environment, { folder, home, working })
  if (!existsSync(database.file)) return null
  const [{ openStore }, { randomIds }] = await Promise.all([
    import('../storage/open-store.ts'),
    import('../storage/random-ids.ts'),
  ])
  return {
    top,
    now: Date.now(),
    store: openStore({ ...database, root, sandboxJournal: false, ids: randomIds }),
    packages: async (place) => {
      const { workspacePackages } = await import('../git/workspace-packages.ts')
      return workspacePackages(place)
    },
  }
}

// Not the exit code of other misspelt commands: 2 would forbid the agent every call.
function misspelt(word: string): void {
  const meant = nearest(word, hookEvents)
  const hint = meant === undefined ? `The events are ${hookEvents.join(', ')}.` : `Did you mean ${meant}?`
  tell(`waymark: There is no hook "${word}".\n${hint}\n`)
  process.exitCode = 1
}
