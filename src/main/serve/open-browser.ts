import { spawn } from 'node:child_process'

/** Opens an address in the user's browser; where there is none, the address was printed. */
export function openBrowser(address: string): void {
  const [program, ...words] = { darwin: ['open'], win32: ['explorer'] }[process.platform as string] ?? [
    'xdg-open',
  ]
  const child = spawn(program ?? 'xdg-open', [...words, address], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
