import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { parseNumstat } from '../../../src/git/patch.ts'
import { commitCopied } from '../../support/copied-folder.ts'
import { git as runGit } from '../../support/git.ts'
import { runProgram } from '../../support/program.ts'
import type { Answer } from '../../support/project.ts'
import { removeFolder } from '../../support/removed-folder.ts'
import { whenFinished } from '../../support/shared.ts'
import { ProgramTransport } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

export interface Agent {
  readonly call: (tool: string, input: object) => Promise<Answer>
  /** How a call is refused, as data. */
  readonly refused: (tool: string, input: object) => Promise<Answer>
  /** The process ends, as when a client is closed. */
  readonly leave: () => Promise<void>
}

export interface SharedTree {
  /** Everything of the project is below. */
  readonly home: string
  readonly folder: string
  /** A client with a server process of its own in the tree. */
  readonly agent: (name: string) => Promise<Agent>
  /** A person at a terminal. */
  readonly person: (...words: readonly string[]) => string
  readonly write: (path: string, content: string) => void
  readonly append: (path: string, line: string) => void
  readonly git: (...args: readonly string[]) => string
  /** How many calls all agents made. */
  readonly calls: () => number
  /** The state of the tree, untracked files included, as a tree of git. */
  readonly state: () => string
}

/** One work tree that several agents share, each over stdio with a server of its own. */
export function openSharedTree(files: Readonly<Record<string, string>>): SharedTree {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-together-')))
  const folder = join(home, 'tree')
  const env = serverEnvironment(home)
  const clients: Client[] = []
  let calls = 0
  whenFinished(async () => {
    await Promise.all(clients.map((client) => client.close()))
    removeFolder(home)
  })
  const write: SharedTree['write'] = (path, content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const git: SharedTree['git'] = (...args) => runGit(folder, ...args)
  commitCopied(folder, files)

  const agent = async (name: string): Promise<Agent> => {
    const client = new Client({ name, version: '1.0.0' })
    clients.push(client)
    await client.connect(new ProgramTransport(['mcp'], { folder, environment: env }))
    const result = (tool: string, input: object) => {
      calls += 1
      return client.callTool({ name: tool, arguments: { ...input } })
    }
    const textOf = (content: unknown) => JSON.stringify(content)
    return {
      async call(tool, input) {
        const { isError, content, structuredContent } = await result(tool, input)
        if (isError) throw new Error(`${tool}: ${textOf(content)}`)
        return structuredContent
      },
      async refused(tool, input) {
        const { isError, structuredContent } = await result(tool, input)
        if (!isError) throw new Error(`${tool} was not refused`)
        return (structuredContent as Answer).error
      },
      leave: () => client.close(),
    }
  }

  return {
    home,
    folder,
    agent,
    write,
    git,
    append: (path, line) => write(path, `${readFileSync(join(folder, path), 'utf8')}${line}\n`),
    person: (...words) => {
      const { code, out, error } = runProgram(words, { folder, environment: env })
      if (code !== 0) throw new Error(`waymark ${words.join(' ')} ended with ${code}: ${error}`)
      return out
    },
    calls: () => calls,
    state: () => treeOf(folder),
  }
}

/** The state of a work tree, untracked files included, as a tree of git; the index is left alone. */
export function treeOf(folder: string): string {
  const index = join(folder, '..', 'index-of-the-test')
  rmSync(index, { force: true })
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_INDEX_FILE: index },
    })
  git('add', '-A', '--', '.', ':!.waymark')
  return git('write-tree').trim()
}

/** What git says of the difference of two states of a tree. */
export function numstat(folder: string, from: string, to: string, ...only: readonly string[]) {
  const question = ['diff-tree', '-r', '-z', '-M50%', '--numstat', from, to, '--', ...only]
  const records = runGit(folder, ...question)
    .split('\0')
    .slice(0, -1)
  const files = parseNumstat(records)
  const sum = (side: 'added' | 'deleted') => files.reduce((all, { count }) => all + (count?.[side] ?? 0), 0)
  return { paths: files.map(({ path }) => path).sort(), added: sum('added'), deleted: sum('deleted') }
}
