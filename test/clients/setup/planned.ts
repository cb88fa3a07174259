import { expect } from 'vitest'
import type { Client } from '../../../src/clients/setup/client.ts'
import { fileHash, type SetupChange } from '../../../src/clients/setup/edit/edit-file.ts'
import {
  planSetup,
  planSetupUndo,
  type SetupPlan,
  type SetupRequest,
  type SetupUndo,
} from '../../../src/clients/setup/plan-setup.ts'
import type { SetupContext } from '../../../src/clients/setup/setup-context.ts'
import { plainly } from './ground.ts'

const tools = ['start_task', 'complete_task']

/** Files that exist only here: plans are pure, and are carried out on a map. */
export class Files {
  readonly texts = new Map<string, string>()
  readonly #records = new Map<
    string,
    { readonly changes: readonly SetupChange[]; readonly before: string | null; readonly hash: string }
  >()
  readonly #context: SetupContext

  constructor(context: SetupContext, texts: Readonly<Record<string, string>> = {}) {
    this.#context = context
    for (const [file, text] of Object.entries(texts)) this.texts.set(file, text)
  }

  plan(clients: readonly Client[], request: Partial<SetupRequest> = {}): SetupPlan {
    return planSetup(clients, {
      ...this.#around(request),
      changesOf: (file) => this.#records.get(file)?.changes ?? [],
    })
  }

  setUp(clients: readonly Client[], request: Partial<SetupRequest> = {}): SetupPlan {
    const plan = this.plan(clients, request)
    this.#write(plan.files)
    return plan
  }

  undo(clients: readonly Client[], request: Partial<SetupRequest> = {}): SetupUndo {
    const recorded = [...this.#records].map(([file, { changes, before, hash }]) => ({
      file,
      changes,
      before,
      asWeLeftIt: fileHash(this.texts.get(file) ?? '') === hash && this.texts.has(file),
    }))
    const done = planSetupUndo(clients, { ...this.#around(request), recorded })
    this.#write(done.files)
    return done
  }

  #around(request: Partial<SetupRequest>) {
    return {
      context: this.#context,
      request: { ...plainly, ...request },
      assets: { tools, skill: '# Waymark\n' },
      read: (file: string) => this.texts.get(file) ?? null,
      fault: () => null,
      expand: (pattern: string) => {
        const [before = '', after = ''] = pattern.split('*')
        return [...this.texts.keys()].filter((file) => file.startsWith(before) && file.endsWith(after))
      },
    }
  }

  #write(files: SetupPlan['files']): void {
    for (const { file, text, without, changes, before } of files) {
      expect(before).toBe(this.texts.get(file) ?? null)
      const known = this.#records.get(file)
      const isKnown = known !== undefined && before !== null && known.hash === fileHash(before)
      if (text === null) this.texts.delete(file)
      else this.texts.set(file, text)
      if (changes.length === 0) this.#records.delete(file)
      else if (before === text && known) this.#records.set(file, { ...known, changes })
      else
        this.#records.set(file, {
          changes,
          before: isKnown ? known.before : without,
          hash: fileHash(text ?? ''),
        })
    }
  }
}

/** The lines of a text that another one has not. */
export function addedLines(before: string, after: string): readonly string[] {
  const old = before.split('\n')
  return after.split('\n').filter((line) => !old.includes(line))
}
