import { z } from 'zod'
import { readWithdrawnCommands, withdrawnAgain } from '../../gate/operations/command-approvals.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'

const file = (description: string) => z.string().min(1).max(4000).describe(description)

export const createBackup = defineOperation({
  name: 'backup_create',
  command: 'backup create',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  title: 'Create a backup of the database',
  description: 'Copy the whole record to a new file. Servers may keep running.',
  kind: 'command',
  positional: ['file'],
  paths: { file: [] },
  input: z.strictObject({ file: file('The file to write; it must not exist yet') }),
  output: z.object({ file: z.string(), events: z.int(), bytes: z.int() }),
}).handler(async ({ store, actor }, input) => {
  assertCommandLine(actor, `backup create ${input.file}`)
  return { ...(await store.backup(input.file)) }
})

export const restoreBackup = defineOperation({
  name: 'backup_restore',
  command: 'backup restore',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  title: 'Restore a backup of the database',
  description:
    'Replace the record with a backup, and keep a copy of the current one. Servers may keep running. Commands that people rejected or revoked since the backup need an approval again.',
  kind: 'command',
  destructive: true,
  positional: ['file'],
  paths: { file: [] },
  input: z.strictObject({ file: file('A file that `waymark backup create` wrote') }),
  output: z.object({
    restored: z.string(),
    events: z.int(),
    kept: z.string().nullable(),
    asked_again: z.int(),
  }),
}).handler(async ({ store, actor, clock, commandApprovals, folder, recordAside }, input) => {
  assertCommandLine(actor, `backup restore ${input.file}`)
  const before = await readWithdrawnCommands(store)
  const restored = await store.putBack(input.file, clock.now())
  const withdrawn = restored.kept === null ? null : before
  const approved = withdrawn === null ? await commandApprovals.list([folder]) : []
  const asked = await recordAside(async (reads) => {
    const events = await withdrawnAgain(reads, withdrawn, approved)
    return { events, answer: events.length }
  })
  return { ...restored, asked_again: asked }
})

/** Only the local command line may name a file: over the network it would be the server's. */
function assertCommandLine({ channel }: Actor, words: string): void {
  if (channel === 'cli') return
  throw new Failure('FORBIDDEN', `Backups are possible only on the command line, not over ${channel}.`, {
    reason: 'command_line_only',
    hint: `Run it in a terminal on the machine of the project: waymark ${words}`,
  })
}

export const repair = defineOperation({
  name: 'doctor_repair',
  command: 'doctor --repair',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  title: 'Rebuild the tables from the log',
  description: 'Copy the database, replay the log, and rebuild every table that differs.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({
    backup: z.string().nullable(),
    events: z.int(),
    tables: strings,
    rows: z.int(),
  }),
}).handler(async ({ store, clock }) => {
  return store.repair(clock.now())
})

export const trust = defineOperation({
  name: 'doctor_trust',
  command: 'doctor --trust',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  title: 'Trust the record as it is now',
  description: 'After a database was lost, cut or replaced: trust the current record, or start a new one.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({ events: z.int() }),
}).handler(async ({ store, clock }) => ({ events: await store.accept(clock.now()) }))
