import type { DocumentMilestone } from '../../domain/plan/document/plan-document.ts'
import { keyGiver } from '../free-key.ts'
import type { BacklogFile } from './backlog-file.ts'

interface Found {
  readonly milestones: readonly DocumentMilestone[]
  /** The key of the milestone that a task names by id or title. */
  readonly keyOf: (name: string) => string
}

/** The milestones that have a file, and those that tasks only name. */
export function milestonesOf(
  files: readonly BacklogFile[],
  { phase, named }: { readonly phase: string; readonly named: readonly string[] },
): Found {
  const milestones = files.map(({ fields, sections }): DocumentMilestone => {
    const id = fields.text('id')
    const name = fields.textOrNull('title')
    const criterion = sections.map(({ text }) => text).join('\n\n') || null
    return { key: id, phase, name, criterion, reached: false, foreignId: id }
  })
  const keys = new Map(
    milestones.flatMap(({ key, name }) => [name ?? key, key].map((word) => [plain(word), key] as const)),
  )
  const giveKey = keyGiver(milestones.map(({ key }) => key))
  const unfiled: DocumentMilestone[] = []
  for (const name of named) {
    if (keys.has(plain(name))) continue
    const key = giveKey(name)
    keys.set(plain(name), key)
    unfiled.push({ key, phase, name, criterion: null, reached: false, foreignId: null })
  }
  return { milestones: [...milestones, ...unfiled], keyOf: (name) => keys.get(plain(name)) ?? name }
}

function plain(name: string): string {
  return name.trim().toLowerCase()
}
