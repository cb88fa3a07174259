import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { commitCopied } from './copied-folder.ts'
import { git as runGit } from './git.ts'
import { type Answer, everyProjectOnServer } from './project.ts'
import { removeFolder } from './removed-folder.ts'
import { ProgramTransport } from './started-program.ts'

export interface StdioProject {
  readonly folder: string
  readonly client: Client
  /** Calls a tool; fails with its text when it answers an error. */
  readonly call: (tool: string, input: object) => Promise<Answer>
  /** Reads a resource's JSON. */
  readonly resource: (uri: string) => Promise<Answer>
  readonly write: (path: string, content: string) => void
  readonly git: (...args: readonly string[]) => string
}

/** A real repository with these files committed, and a client of the built server over stdio. */
export async function openStdioProject(files: Readonly<Record<string, string>>): Promise<StdioProject> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-stdio-')))
  const folder = join(home, 'tree')
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const git = (...args: readonly string[]) => runGit(folder, ...args)
  commitCopied(folder, { 'README.md': '# Project\n', ...files })
  const client = new Client({ name: 'test-client', version: '1.0.0' })
  const database = await everyProjectOnServer()
  const env = { ...serverEnvironment(home), ...(database !== null && { WAYMARK_DATABASE: database }) }
  await client.connect(new ProgramTransport(['mcp'], { folder, environment: env }))
  onTestFinished(async () => {
    await client.close()
    removeFolder(home)
  })
  return {
    folder,
    client,
    write,
    git,
    call: async (tool, input) => {
      const result = await client.callTool({ name: tool, arguments: { ...input } })
      if (result.isError) throw new Error(JSON.stringify(result.content))
      return result.structuredContent
    },
    resource: async (uri) => {
      const { contents } = await client.readResource({ uri })
      const [first] = contents
      if (first === undefined || !('text' in first)) throw new Error(`${uri} has no text`)
      return JSON.parse(first.text)
    },
  }
}

/** The tests' environment, with a state folder of its own and without what names another project. */
export function serverEnvironment(home: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(WAYMARK|TASKMAN|CLAUDE|CURSOR)/.test(entry[0]),
  )
  return {
    ...Object.fromEntries(kept),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(tmpdir(), 'waymark-test-cache'),
  }
}
