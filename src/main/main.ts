/** The program: it serves over stdio and HTTP, hooks answer, everything else is the command line. Each loads what it needs. */
export async function main(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2)
  const asksForHelp = rest.some((word) => word === '--help' || word === '-h')
  if (command === 'mcp' && !asksForHelp) {
    const { serveMcp } = await import('./mcp.ts')
    return serveMcp(rest)
  }
  if (command === 'serve' && !asksForHelp) {
    const { serveCommand } = await import('./serve/serve.ts')
    return serveCommand(rest)
  }
  if (command === 'demo' && rest[0] === 'play' && !asksForHelp) {
    const { demoCommand } = await import('./demo/demo.ts')
    return demoCommand(rest.slice(1))
  }
  if (command === 'token' && !asksForHelp) {
    const { tokenCommand } = await import('./serve/tokens.ts')
    return tokenCommand(rest)
  }
  if (command === 'logout' && !asksForHelp) {
    const { logoutCommand } = await import('./serve/tokens.ts')
    return logoutCommand(rest)
  }
  if ((command === 'hook' || command === 'pre-tool-use') && !asksForHelp) {
    const { hook } = await import('./hook.ts')
    return hook(command === 'hook' ? rest : [command, ...rest])
  }
  if (command === '--version' || command === '-v') {
    const [{ version }, { print }] = await Promise.all([
      import('./program.ts'),
      import('../surfaces/cli/terminal.ts'),
    ])
    print(`${version}\n`)
    return
  }
  const { commandLine } = await import('./command-line.ts')
  process.exitCode = await commandLine([command ?? '', ...rest])
}
