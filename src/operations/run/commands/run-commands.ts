import type { CommandResult, RunRecord } from '../../../domain/gate/run-record.ts'
import type { Handling } from '../../context.ts'
import type { ApprovableCommand, Outside } from '../evidence/outside.ts'
import { askPerson } from './ask-person.ts'

/** How long an event waits for its commands, in milliseconds; they go on when it is over. */
const patience = 25_000
const pollEvery = 250

/**
 * Sees to it that the commands of an event's guards have run on the tree as it is: asks a person where one was never
 * approved, starts what did not run yet (one per command and tree, in whatever process), and waits a while.
 */
export async function runCommands(
  handling: Handling,
  run: RunRecord,
  outside: Outside,
  { again = false }: { readonly again?: boolean } = {},
): Promise<void> {
  const { tree } = outside
  if (tree === null) return
  const { folder } = outside
  const asked = outside.commands.map(({ guard, hash, approved, refusal }) => {
    return { run: guard.run, folder, pinned: guard.pinned, hash, isAnswered: approved || refusal !== null }
  })
  await askPerson(handling, run, asked)
  const approved = outside.commands.filter((command) => command.approved)
  const under = approved.map((command) =>
    begin(handling, run, { command, tree, stamps: outside.stamps, folder: outside.folder, again }),
  )
  const all = Promise.all(under)
  // The command line ends with its answer, and its commands with it: there they are waited for.
  await (handling.actor.channel === 'cli' ? all : within(patience, all))
}

interface Beginning {
  readonly command: ApprovableCommand
  readonly tree: string
  readonly stamps: Outside['stamps']
  readonly folder: string
  /** Runs it although there is a result for this tree. */
  readonly again: boolean
}

/** Resolves when the command has a result for the tree, from this process or another. */
async function begin(handling: Handling, run: RunRecord, beginning: Beginning): Promise<void> {
  // What a person approved is what runs: a pinned file that changed since this was judged is asked about first.
  if (!(await isAsApproved(handling, beginning))) return
  const started = await claim(handling, run, beginning)
  if (started === 'known') return
  if (started === 'elsewhere') return waitForOther(handling, beginning)
  await runHere(handling, beginning, started)
}

/** Writes that the command runs here, unless it has a result or runs already: decided under the lock. */
function claim(
  { recordAside, commandRunner }: Handling,
  run: RunRecord,
  { command, tree, folder, again }: Beginning,
): Promise<CommandResult | 'known' | 'elsewhere'> {
  return recordAside<CommandResult | 'known' | 'elsewhere'>(async (reads, setting) => {
    const key = command.tree ?? tree
    const known = await reads.runs.commandResult({ run: command.guard.run, folder }, key)
    const running = known?.status === 'running' && commandRunner.isAlive(known.runner)
    if (running) return { happenings: [], answer: 'elsewhere' as const }
    const counts = known?.treeHeld === true && !['running', 'stopped'].includes(known.status)
    if (counts && !again) return { happenings: [], answer: 'known' as const }
    const started: CommandResult = {
      id: setting.ids.next('commandResult'),
      runId: run.id,
      run: command.guard.run,
      folder,
      tree: key,
      status: 'running',
      exitCode: null,
      output: '',
      treeHeld: true,
      runner: commandRunner.name,
      startedAt: setting.at,
      endedAt: null,
    }
    return { happenings: [{ kind: 'command.started', command: started }], answer: started }
  })
}

async function runHere(handling: Handling, beginning: Beginning, started: CommandResult): Promise<void> {
  const { commandRunner, recordAside } = handling
  const { command, folder } = beginning
  const { run, timeout } = command.guard
  const { status, exitCode, output } = await commandRunner.start({ run, folder, timeout })
  const disturbance = await disturbanceOf(handling, beginning)
  await recordAside(async () => ({
    happenings: [
      {
        kind: 'command.ended',
        commandId: started.id,
        runId: started.runId,
        status,
        exitCode,
        output:
          disturbance === null ? output : withLine(output, `This result does not count: ${disturbance}.`),
        treeHeld: disturbance === null,
      },
    ],
    answer: null,
  }))
}

async function isAsApproved(
  { commandApprovals }: Handling,
  { command: { guard, hash }, folder }: Beginning,
): Promise<boolean> {
  return (await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })) === hash
}

/** What became of the tree while a command ran, so that it does not tell of this one; null where nothing did. */
async function disturbanceOf(handling: Handling, beginning: Beginning): Promise<string | null> {
  const { tree, stamps, folder } = beginning
  const after = await handling.witness.standing(folder).catch(() => null)
  if (after === null) return 'the work tree could not be measured when it had ended'
  // Of a file that was changed and changed back the hash says nothing, and its stamp does.
  const touched = touchedBetween(stamps, after.stamps)
  if (touched.length > 0) {
    const more = touched.length > mostNamed ? ` and ${touched.length - mostNamed} more` : ''
    return `${touched.slice(0, mostNamed).join(', ')}${more} changed while it ran`
  }
  if (after.hash !== tree) return 'the work tree changed before it began'
  return (await isAsApproved(handling, beginning)) ? null : 'a pinned file changed while it ran'
}

const mostNamed = 5

function touchedBetween(before: Outside['stamps'], after: Outside['stamps']): readonly string[] {
  const gone = [...before.keys()].filter((path) => !after.has(path))
  return [...gone, ...[...after.keys()].filter((path) => after.get(path) !== before.get(path))].sort()
}

function withLine(output: string, line: string): string {
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${line}`
}

async function waitForOther(
  { store, commandRunner }: Handling,
  { command, tree, folder }: Beginning,
): Promise<void> {
  const until = performance.now() + patience
  while (performance.now() < until) {
    const known = await store.view(({ runs }) =>
      runs.commandResult({ run: command.guard.run, folder }, command.tree ?? tree),
    )
    if (known?.status !== 'running' || !commandRunner.isAlive(known.runner)) return
    await pause(pollEvery)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Waits for work at most so long; the work goes on. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  work.catch(() => undefined) // once nobody waits for it any more, what it recorded tells
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
