import { existsSync } from 'node:fs'
import { type IPty, spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { onTestFinished } from 'vitest'
import { bin } from '../support/program.ts'
import type { CommandLineProject } from '../surfaces/cli/command-line.ts'

/** Node-pty comes ready made for these; elsewhere the tests of the screen are left out. */
export const hasPty = ['linux', 'darwin', 'win32'].includes(process.platform) && existsSync(bin)

export interface FullScreen {
  /** The lines that the terminal shows, without what is empty at their ends. */
  lines(): readonly string[]
  text(): string
  /** Waits until the screen shows it. */
  shows(words: string | RegExp): Promise<string>
  type(keys: string): void
  resize(columns: number, rows: number): void
  /** Whether the screen of a program is shown, not the shell's. */
  isAlternate(): boolean
  isCursorShown(): boolean
  readonly process: IPty
  readonly ended: Promise<number>
}

/** Runs a program in a real pseudo-terminal, which is read as a terminal shows it. */
export function openScreen(
  { folder, environment }: Pick<CommandLineProject, 'folder' | 'environment'>,
  words: readonly string[],
  { columns = 80, rows = 24, program = process.execPath } = {},
): FullScreen {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const child = spawn(program, [...(program === process.execPath ? [bin] : []), ...words], {
    cols: columns,
    rows,
    cwd: folder,
    env: { ...environment, TERM: 'xterm-256color' },
  })
  let isShown = true
  child.onData((data) => {
    for (const [, sign] of data.matchAll(/\u001b\[\?25([hl])/g)) isShown = sign === 'h'
    terminal.write(data)
  })
  const ended = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    terminal.dispose()
  })
  const lines = () => {
    const { active } = terminal.buffer
    return Array.from({ length: terminal.rows }, (_, row) =>
      (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
    )
  }
  const text = () => lines().join('\n').trimEnd()
  return {
    lines,
    text,
    shows: async (words) => {
      const until = Date.now() + 30_000
      for (;;) {
        const now = text()
        if (typeof words === 'string' ? now.includes(words) : words.test(now)) return now
        if (Date.now() > until) throw new Error(`The screen does not show ${words}:\n${now}`)
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
    },
    type: (keys) => child.write(keys),
    resize: (width, height) => {
      terminal.resize(width, height)
      child.resize(width, height)
    },
    isAlternate: () => terminal.buffer.active.type === 'alternate',
    isCursorShown: () => isShown,
    process: child,
    ended,
  }
}
