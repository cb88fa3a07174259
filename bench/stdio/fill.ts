import { join } from 'node:path'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { MissionId } from '../../src/kernel/id.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { openStore } from '../../src/store/store.ts'
import { aChange, closing, happened } from '../../test/store/events.ts'
import { anAttempt, aTask } from '../../test/support/entities.ts'

const batch = 500

/** Adds tasks to a mission that were all worked on and completed, each with three changed files. */
export async function fill(root: string, mission: string, tasks: number): Promise<void> {
  const file = join(root, '.waymark', 'waymark.db')
  const clock = { now: () => Date.now() }
  const store = openStore({ file, shared: false, root, sandboxJournal: false, ids: randomIds })
  const missionId = mission as MissionId // as the server answered it
  for (let made = 0; made < tasks; made += batch) {
    const events = Array.from({ length: batch }, (_, index) => workedOn(missionId, made + index, clock.now()))
    await happened(store, clock.now(), ...events.flat())
  }
  await store.close()
}

function workedOn(missionId: MissionId, number: number, at: number): readonly NewProjectEvent[] {
  const task = aTask({
    id: randomIds.next('task'),
    missionId,
    name: `Task ${number}`,
    createdAt: at,
    updatedAt: at,
  })
  const attempt = anAttempt({
    id: randomIds.next('attempt'),
    taskId: task.id,
    missionId,
    openedAt: at,
    lastCallAt: at,
  })
  const paths = ['src/a', 'src/b', 'test/c'].map((folder) => `${folder}/file-${number}.ts`)
  return [
    { kind: 'task.planned', task },
    { kind: 'attempt.opened', attempt },
    closing(
      attempt,
      paths.map((path) => aChange(path)),
    ),
  ]
}
