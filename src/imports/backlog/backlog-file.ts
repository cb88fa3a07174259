import { type FieldReader, fieldReader, isObject } from '../field-reader.ts'
import type { SourceText } from '../import-result.ts'
import { frontMatter } from './front-matter.ts'
import { type Section, sections } from './sections.ts'

/** What a file of a Backlog.md folder holds, by the folder it is in. */
export type BacklogKind = 'task' | 'completed' | 'archived' | 'draft' | 'milestone' | 'other'

export interface BacklogFile {
  readonly kind: BacklogKind
  readonly path: string
  readonly fields: FieldReader
  readonly sections: readonly Section[]
}

/** Null, with a problem, when the file cannot be read. */
export function backlogFile({ path, text }: SourceText, problems: string[]): BacklogFile | null {
  const found = frontMatter(text)
  if (!found.readable) {
    problems.push(`${path}: ${found.problem}.`)
    return null
  }
  return {
    kind: backlogKind(path),
    path,
    fields: fieldReader(withoutEmpty(found.value.fields), path, problems),
    sections: sections(found.value.body),
  }
}

/** `milestone:` with nothing behind it says nothing. */
function withoutEmpty(fields: unknown): unknown {
  if (!isObject(fields)) return fields
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

export function backlogKind(path: string): BacklogKind {
  const folders = path.replaceAll('\\', '/').toLowerCase().split('/').slice(0, -1)
  if (!path.toLowerCase().endsWith('.md') || /(^|[\\/])readme\.md$/i.test(path)) return 'other'
  const has = (name: string): boolean => folders.includes(name)
  if (has('milestones')) return 'milestone'
  if (has('drafts')) return 'draft'
  if (has('archive')) return has('tasks') ? 'archived' : 'other'
  if (has('completed')) return 'completed'
  return has('tasks') ? 'task' : 'other'
}
