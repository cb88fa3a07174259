import { processEnd } from '../kernel/process-end.ts'
import { isJsonWanted, print, printError, quietWhenClosed, reportFailures } from '../surfaces/cli/terminal.ts'
import { endOnSignal, keepHeapSmall } from './process.ts'
import { endOnUnexpected, endUnexpectedly } from './unexpected-errors.ts'

/**
 * The program: it serves over stdio and HTTP, everything else is the command line. Each loads what it needs. Hooks are
 * answered by a bundle of their own, `hook.ts`.
 */
export async function main(): Promise<void> {
  const words = process.argv.slice(2)
  endOnUnexpected({ rejections: words[0] !== 'mcp' })
  endOnSignal()
  quietWhenClosed()
  try {
    // Standard output of `waymark mcp` is its protocol.
    const json = words[0] !== 'mcp' && isJsonWanted(words, process.env['WAYMARK_FORMAT'])
    await reportFailures(() => run(words), { json })
  } catch (error) {
    // A signal also ends the pager, editor or client that a command waits for.
    if (!processEnd.aborted || !isAbort(error)) endUnexpectedly(error)
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

async function run([command = '', ...rest]: readonly string[]): Promise<void> {
  if (command === 'export' || command === 'import') keepHeapSmall()
  const asksForHelp = rest.some((word) => word === '--help' || word === '-h')
  if (command === 'mcp' && !asksForHelp) {
    const { serveMcp } = await import('./mcp.ts')
    return serveMcp(rest)
  }
  if (command === 'serve' && !asksForHelp) {
    const { serve } = await import('./serve/serve.ts')
    return serve(rest)
  }
  if (command === 'demo' && !asksForHelp) {
    const { playDemo } = await import('./demo/demo.ts')
    return playDemo(rest)
  }
  if (command === 'connect' && !asksForHelp) {
    const { connectToServer } = await import('./remote/connect.ts')
    return connectToServer(rest)
  }
  if (command === 'disconnect' && !asksForHelp) {
    const { disconnect } = await import('./remote/connect.ts')
    return disconnect(rest)
  }
  if (command === 'capture' && !asksForHelp) {
    const { captureCommand } = await import('./capture/capture-command.ts')
    return print(captureCommand(rest))
  }
  if (command === 'ingest' && !asksForHelp) {
    const { ingest } = await import('./capture/ingest-command.ts')
    return ingest(rest)
  }
  if (command === 'check' && !asksForHelp) {
    const { checkBranch } = await import('./ci/check.ts')
    process.exitCode = await checkBranch(rest)
    return
  }
  if (command === 'watch' && !asksForHelp) {
    const { watchProject } = await import('./watch.ts')
    return watchProject(rest)
  }
  if (command === 'setup' && !asksForHelp) {
    const { setup } = await import('./setup/setup.ts')
    return setup(rest)
  }
  // Alone in a pipe it is taskman's command, which makes the database.
  if (command === 'init' && !asksForHelp && (rest.length > 0 || process.stdin.isTTY === true)) {
    const { initCommand } = await import('./setup/setup.ts')
    return initCommand(rest)
  }
  // Its other words are operations.
  if (command === 'review' && !asksForHelp && !isReviewOperation(rest[0])) {
    const { review } = await import('./review.ts')
    return review(rest)
  }
  if (command === 'top' && !asksForHelp) {
    const { topOfProject } = await import('./top.ts')
    return topOfProject(rest)
  }
  if (command === 'worktree' && !asksForHelp) {
    const { asksForClient, startInWorkTree } = await import('./worktree.ts')
    if (asksForClient(rest)) {
      process.exitCode = await startInWorkTree(rest)
      return
    }
  }
  if (isWithoutCommand([command, ...rest])) {
    const { showOverview } = await import('./overview.ts')
    return showOverview(command === '' ? rest : [command, ...rest])
  }
  if (command === 'open' && !asksForHelp) {
    const { openDashboard } = await import('./serve/open.ts')
    return openDashboard(rest)
  }
  if (command === '--version' || command === '-v') {
    const { version } = await import('./program.ts')
    return print(`${version}\n`)
  }
  const { commandLine } = await import('./command-line.ts')
  if (command !== 'init' || asksForHelp) {
    process.exitCode = await commandLine([command, ...rest])
    return
  }
  const { clientSteps, isAtServer } = await import('./setup/setup.ts')
  // A server has its database: only a program is told so as taskman tells it.
  const isMade = !isJsonWanted([], process.env['WAYMARK_FORMAT']) && isAtServer()
  process.exitCode = isMade ? 0 : await commandLine(['init'])
  if (process.exitCode === 0) printError(clientSteps())
}

/** Whether a command line has nothing but what every command takes. */
function isWithoutCommand([first = '', ...rest]: readonly string[]): boolean {
  if (first === '' || first === '--json' || /^--(?:format|project)=/.test(first)) {
    return rest.length === 0 || isWithoutCommand(rest)
  }
  return (first === '--format' || first === '--project') && rest.length > 0 && isWithoutCommand(rest.slice(1))
}

function isReviewOperation(word: string | undefined): boolean {
  return word === 'show' || word === 'comments' || word === 'reply'
}
