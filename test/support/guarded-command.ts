import type { SnapshotId } from '../../src/kernel/id.ts'
import { happened } from '../store/events.ts'
import type { TestProject } from './project.ts'

/** Records a snapshot as the guard before a git command does, and returns its id. */
export async function recordGuardedCommand(
  { context, folder }: Pick<TestProject, 'context' | 'folder'>,
  command: string,
): Promise<string> {
  const { ref } = await context.witness.snapshot({ folder, name: context.ids.next('attempt') })
  const id = context.ids.next('snapshot')
  await happened(context.store, context.clock.now(), {
    kind: 'command.guarded',
    command: {
      id: id as SnapshotId,
      guardedAt: context.clock.now(),
      top: ref.top,
      client: 'claude',
      clientSession: null,
      commands: [command],
      answer: 'none',
      files: [],
      agents: [],
      snapshot: ref,
      missing: null,
      bytes: 0,
    },
  })
  return id
}
