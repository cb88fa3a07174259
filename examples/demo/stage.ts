import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { styleText } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** A work tree in which a story may do as it likes. */
export interface Scratch {
  readonly folder: string
  git(...args: readonly string[]): string
  write(path: string, content: string): void
  append(path: string, content: string): void
  /** Another work tree of the same repository, on a branch of its own. */
  workTree(branch: string): Scratch
  remove(): void
}

/** Clones this very repository into a temporary folder. */
export function cloneHere(repository: string): Scratch {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-demo-')))
  const folder = join(home, 'waymark')
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, folder])
  return scratchIn(home, folder)
}

function scratchIn(home: string, folder: string): Scratch {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return {
    folder,
    git,
    write,
    append: (path, content) => write(path, readFileSync(join(folder, path), 'utf8') + content),
    workTree: (branch) => {
      git('worktree', 'add', '--quiet', '-b', branch, join(home, branch))
      return scratchIn(home, join(home, branch))
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** An answer of the server, read freely. */
export type Answer = any

export interface Agent {
  call(tool: string, input: object): Promise<Answer>
  leave(): Promise<void>
}

/** A coding agent as Waymark sees it: an MCP client with a server process of its own, on stdio. */
export async function connectAgent(
  name: string,
  server: { readonly bin: string; readonly folder: string },
): Promise<Agent> {
  const client = new Client({ name, version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [server.bin, 'mcp', '--toolsets', 'track'],
      cwd: server.folder,
      env: environment(),
      stderr: 'inherit',
    }),
  )
  return {
    call: async (tool, input) => {
      const result = await client.callTool({ name: tool, arguments: { ...input } })
      if (result.isError) throw new Error(`${tool}: ${JSON.stringify(result.content)}`)
      return result.structuredContent
    },
    leave: () => client.close(),
  }
}

/** This process' environment, without what would point the server at another project. */
function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(WAYMARK|TASKMAN|GIT|CLAUDE)_/.test(entry[0]),
  )
  return Object.fromEntries(entries)
}

/** Tells the story on the terminal: what somebody does, what the server measured, what somebody only said. */
export function does(who: string, what: string): void {
  console.log(`\n${styleText('bold', who)} ${what}`)
}

export function chapter(title: string): void {
  console.log(`\n${styleText(['bold', 'underline'], title)}`)
}

export function note(text: string): void {
  console.log(styleText('dim', `  ${text}`))
}

/** What an agent said: outlined and attributed, never in the style of what was measured. */
export function claims(who: string, text: string): void {
  console.log(`  ${styleText('dim', '○')} ${who} says: ${styleText('italic', `“${text}”`)}`)
}

/** What Waymark measured between the two snapshots of a task. */
export function showReport(report: Answer): void {
  const { measurement, verification, details, duration_seconds } = report
  const mark = measurement === 'exact' ? styleText('green', '●') : styleText('yellow', '◐')
  console.log(`  ${mark} Waymark measured, ${measurement}, in ${duration_seconds} s:`)
  for (const detail of details) {
    const name = detail.from === undefined ? detail.path : `${detail.from} → ${detail.path}`
    const lines = detail.added_lines === null ? '' : `+${detail.added_lines} −${detail.deleted_lines}`
    const scope = detail.scope === 'out' ? styleText('red', 'out of scope') : (detail.scope ?? 'no scope')
    console.log(`    ${detail.change.padEnd(8)}  ${name.padEnd(58)} ${lines.padEnd(8)} ${scope}`)
  }
  for (const warning of verification.warnings) console.log(`    ${styleText('yellow', warning)}`)
}
