/** The program: `waymark mcp` serves, everything else is the command line. Each loads only what it needs. */
export async function main(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'mcp' && !rest.some((word) => word === '--help' || word === '-h')) {
    const { serveMcp } = await import('./serve-mcp.ts')
    return serveMcp(rest)
  }
  if (command === '--version' || command === '-v') {
    const { version } = await import('./program.ts')
    process.stdout.write(`${version}\n`)
    return
  }
  const { commandLine } = await import('./command-line.ts')
  process.exitCode = await commandLine([command ?? '', ...rest])
}
