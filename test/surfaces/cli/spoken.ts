import { closeContext, openContext } from '../../../src/app/open-context.ts'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { runCommandLine } from '../../../src/surfaces/cli/run.ts'
import type { CommandLineProject } from './command-line.ts'

export interface Spoken {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** What a person reads on a terminal, without colours. */
export async function spoken(words: readonly string[], project?: CommandLineProject): Promise<Spoken> {
  let [out, error] = ['', '']
  const code = await runCommandLine(words, {
    operations: async () => catalog,
    version: '0',
    terminal: {
      interactive: true,
      width: 120,
      ink: (_, text) => text,
      write: (text) => {
        out += text
      },
      writeError: (text) => {
        error += text
      },
    },
    open: (named) => {
      if (project === undefined) throw new Error('this opens no project')
      return openContext({
        actor: { name: 'Tess', kind: 'person', role: null, channel: 'cli' },
        environment: project.environment,
        workingFolder: project.folder,
        project: named,
      })
    },
    close: closeContext,
  })
  return { code, out, error }
}
