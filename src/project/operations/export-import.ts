import { z } from 'zod'
import { restoreEventLog } from '../../events/operations/event-line.ts'
import { exportEvents } from '../../events/operations/event-log.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { text } from '../../kernel/operations/input/fields.ts'
import { requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { planFile } from '../../plan/operations/plan-import.ts'
import { keptTables } from '../../store/ports/record-rows.ts'
import type { Store } from '../../store/ports/store.ts'

const contract = {
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  kind: 'command',
  idempotent: true,
} as const

export const exportEnd = defineOperation({
  ...contract,
  name: 'export_end',
  command: 'export --end',
  title: 'End writing and export the project',
  description:
    'End writing here and print the whole record, with idempotency keys and without secrets. Webhook addresses must be entered again. `import --replace` continues elsewhere; `export --reopen` undoes it.',
  input: z.strictObject({
    to: text('Address where the project continues; people see it, so without a password').optional(),
  }),
  output: z.object({ events: z.int(), kept: z.int(), next: z.string(), text: z.string() }),
  print: (answer) => [String(answer['text'])],
}).handler(async ({ store, actor, recordAside, tell, writeText }, input) => {
  assertOnCommandLine(actor, 'export --end')
  await assertRecord(store)
  const { ended } = await store.health()
  const to = input.to === undefined ? null : withoutPassword(input.to)
  if (ended === null)
    await recordAside(async () => ({ events: [{ kind: 'project.ended', to }], answer: null })).catch(
      (error: unknown) => {
        // Another call just ended it: the record is the same.
        if (!(error instanceof Failure && error.reason === 'project_ended')) throw error
      },
    )
  const { events, kept } = await exportEvents({ store, writeText }, keptTables)
  const listed = await store.view(({ notifications }) => notifications.all())
  const posted = listed.filter(({ item }) => item.origin !== null).map(({ item }) => item.name)
  const next = nextStepText(to, posted)
  tell?.(next)
  const rows = [...kept.values()].reduce((sum, count) => sum + count, 0)
  return { events, kept: rows, next, text: '' }
})

function nextStepText(to: string | null, posted: readonly string[]): string {
  const there = to === null ? 'where the project goes on' : `at ${to}`
  const addresses =
    posted.length === 0
      ? ''
      : ` It has no addresses of ${posted.join(', ')}, because they may contain a secret. After the import, enter each again: waymark notify edit <name> --url <address>, for a webhook with --new-secret.`
  return `Import the file ${there}: waymark import --replace <file>. If that fails, waymark export --reopen allows writing here again.${addresses}`
}

export const exportReopen = defineOperation({
  ...contract,
  name: 'export_reopen',
  command: 'export --reopen',
  title: 'Reopen the project after export --end',
  description: 'Allow writing again after `export --end`, for example because the import failed.',
  input: z.strictObject({}),
  output: z.object({ events: z.int(), reopened: z.boolean() }),
}).handler(async ({ store, actor, clock }) => {
  assertOnCommandLine(actor, 'export --reopen')
  await assertRecord(store)
  const { ended, location } = await store.health()
  if (ended !== null) {
    const event = { kind: 'project.reopened', location } as const
    const decide = async () => ({ events: [event], answer: null })
    await store.record({ actor, at: clock.now(), reopens: true, decide })
  }
  return { events: (await store.health()).seq, reopened: ended !== null }
})

export const importReplace = defineOperation({
  ...contract,
  name: 'import_replace',
  command: 'import --replace',
  title: 'Replace this project with an exported one',
  description:
    'Import an export and open it for writing. An existing record continues if it is the beginning of the file; otherwise it is renamed.',
  destructive: true,
  positional: ['file'],
  input: z.strictObject({ file: text('A file that `waymark export` wrote') }),
  output: z.object({
    events: z.int(),
    added: z.int(),
    /** The new name of the record that was here; null if there was none or it was continued. */
    set_aside: z.string().nullable(),
    next: z.string(),
  }),
})
  .measure({ plan: planFile })
  .handler(replacementBrief, async (context, input, { plan }) => {
    const loaded = requireMeasured(plan)
    if (loaded.kind !== 'log') {
      throw new Failure('INVALID_INPUT', `${input.file} is not an exported project.`, {
        reason: 'not_an_export',
        hint: 'Name a file that `waymark export` wrote. `waymark import <file>` imports a plan.',
      })
    }
    const { events, restored } = await restoreEventLog(context, loaded.lines, { replace: true })
    return {
      events,
      added: restored?.added ?? 0,
      set_aside: restored?.setAside ?? null,
      next: 'Check it with waymark log --verify. Start running servers again.',
    }
  })

function replacementBrief({ file }: { readonly file: string }, { actor }: RecordContext) {
  assertOnCommandLine(actor, `import --replace ${file}`)
  return { plan: { file, from: null } }
}

/** Only the local command line may name a file or export keys. */
function assertOnCommandLine({ channel }: Actor, words: string): void {
  if (channel === 'cli') return
  throw new Failure(
    'FORBIDDEN',
    `Moving a project is possible only on the command line, not over ${channel}.`,
    {
      reason: 'command_line_only',
      hint: `Run it in a terminal on the machine of the project: waymark ${words}`,
    },
  )
}

async function assertRecord(store: Store): Promise<void> {
  const { exists, location } = await store.health()
  if (exists) return
  throw new Failure('NOT_FOUND', `There is no record in ${location}: nothing was exported.`, {
    reason: 'record_not_found',
    hint: 'Run it in the folder of the project, or name that folder with --project.',
  })
}

/** A password may be in a parameter, or contain a delimiter of the URL. */
function withoutPassword(place: string): string {
  return place.replace(/^([a-z][a-z+.-]*:\/\/)(?:.*@)?([^?#]*).*$/is, '$1$2')
}
