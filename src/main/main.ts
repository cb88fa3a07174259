import { print, reported } from '../surfaces/cli/terminal.ts'

/** The program: it serves over stdio and HTTP, hooks answer, everything else is the command line. Each loads what it needs. */
export function main(): Promise<void> {
  const words = process.argv.slice(2)
  return reported(() => run(words))
}

async function run([command = '', ...rest]: readonly string[]): Promise<void> {
  const asksForHelp = rest.some((word) => word === '--help' || word === '-h')
  if (command === 'mcp' && !asksForHelp) {
    const { serveMcp } = await import('./mcp.ts')
    return serveMcp(rest)
  }
  if (command === 'serve' && !asksForHelp) {
    const { serve } = await import('./serve/serve.ts')
    return serve(rest)
  }
  if (command === 'demo' && rest[0] === 'play' && !asksForHelp) {
    const { playDemo } = await import('./demo/demo.ts')
    return playDemo(rest.slice(1))
  }
  if (command === 'connect' && !asksForHelp) {
    const { connectToServer } = await import('./edge/connect.ts')
    return connectToServer(rest)
  }
  if (command === 'disconnect' && !asksForHelp) {
    const { disconnect } = await import('./edge/connect.ts')
    return disconnect(rest)
  }
  // Where a database is named, tokens are kept in it and made by operations.
  if (command === 'token' && !asksForHelp && !(await isDatabaseNamed())) {
    const { token } = await import('./serve/tokens.ts')
    return token(rest)
  }
  if (command === 'logout' && !asksForHelp) {
    const { logout } = await import('./serve/tokens.ts')
    return logout(rest)
  }
  if ((command === 'hook' || command === 'pre-tool-use') && !asksForHelp) {
    const { hook } = await import('./hook.ts')
    return hook(command === 'hook' ? rest : [command, ...rest])
  }
  if (command === '--version' || command === '-v') {
    const { version } = await import('./program.ts')
    return print(`${version}\n`)
  }
  const { commandLine } = await import('./command-line.ts')
  process.exitCode = await commandLine([command, ...rest])
}

/** By a variable, or by the folder of a project that was moved. */
async function isDatabaseNamed(): Promise<boolean> {
  const { placed, rootWithoutGit } = await import('./settings/moved.ts')
  const here = rootWithoutGit({ environment: process.env, workingFolder: process.cwd() })
  return Boolean(placed(process.env, here).environment['WAYMARK_DATABASE'])
}
