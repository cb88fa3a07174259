import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeIgnore } from '../../src/store/record/project.ts'
import { DatabaseFile } from '../../src/store/sqlite/database-file.ts'
import { templateFolder } from './copied-folder.ts'

let template: Promise<string> | undefined

/**
 * Puts a database of the newest schema in which nothing is recorded at a new path, as the first write makes it. It is
 * made once for a process, and copied from then on: to make one takes longer than most of what tests do in it.
 */
export async function plantDatabase(file: string): Promise<void> {
  template ??= makeTemplate()
  const from = await template
  mkdirSync(dirname(file), { recursive: true })
  copyFileSync(from, file)
  writeIgnore(dirname(file))
}

async function makeTemplate(): Promise<string> {
  const file = join(templateFolder(), 'waymark.db')
  const database = new DatabaseFile(file, false)
  await database.forWriting()
  await database.forget()
  return file
}
