import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { commitCopied } from '../support/copied-folder.ts'
import { throughMachine } from '../support/through-machine.ts'

const minute = 60_000

/** An answer, read freely. */
type Said = any

/** A project in which agents and a person act at times of a day that ends now. */
export interface Day {
  readonly folder: string
  /** The project, by the clock of the day. */
  readonly context: Context
  /** Moves the clock on, minutes. */
  readonly pass: (minutes: number) => void
  readonly agent: (name: string) => (operation: string, input: object) => Promise<Said>
  readonly person: (operation: string, input: object) => Promise<Said>
  /** An agent on another machine, with the same folder. */
  readonly away: (operation: string, input: object) => Promise<Said>
  readonly write: (path: string, content: string) => void
  readonly remove: (path: string) => void
}

export function openDay(context: Context, hours: number): Day {
  let back = hours * 60 * minute
  const clock = { now: () => context.clock.now() - back }
  const operationNamed = (name: string) => {
    const operation = catalog.find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`There is no operation ${name}.`)
    return operation
  }
  const act = (actor: Context['actor']) => (name: string, input: object) =>
    invoke(operationNamed(name), { ...context, clock, actor }, input)
  return {
    folder: context.folder,
    context: { ...context, clock },
    pass: (minutes) => {
      back = Math.max(0, back - minutes * minute)
    },
    agent: (name) => act({ name, kind: 'agent', role: null, channel: 'stdio' }),
    person: act({ name: 'Tess', kind: 'person', role: null, channel: 'cli' }),
    away: async (name, input) => {
      const work = (there: Context) => invoke(operationNamed(name), there, input)
      return (await throughMachine({ ...context, clock }, name, work, { input })).answer
    },
    write: (path, content) => {
      mkdirSync(dirname(join(context.folder, path)), { recursive: true })
      writeFileSync(join(context.folder, path), content)
    },
    remove: (path) => rmSync(join(context.folder, path)),
  }
}

/** A repository with something in it. */
export function plantRepository(folder: string): void {
  const files = {
    'README.md': '# diffkit\n\nReads and writes patches.\n',
    'package.json': '{\n  "name": "diffkit",\n  "version": "3.1.0",\n  "type": "module"\n}\n',
    'src/diff/reader.ts': lines(60, (at) => `export const line${at} = ${at}`),
    'src/diff/index.ts': "export * from './reader.ts'\n",
    'src/diff/regex-parser.ts': lines(90, (at) => `// rule ${at}`),
    'test/diff/reader.test.ts': lines(30, (at) => `// case ${at}`),
  }
  commitCopied(folder, files)
}

export function lines(count: number, of: (at: number) => string): string {
  return `${Array.from({ length: count }, (_, at) => of(at)).join('\n')}\n`
}
