import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDemoProject } from '../../src/app/demo/project.ts'
import { linkEvents } from '../../src/app/demo/recording.ts'
import { memoryLog } from '../../src/store/ports/record-rows.ts'
import { templateFolder } from './copied-folder.ts'
import { temporaryStore } from './store.ts'

let template: Promise<string> | undefined

/** Puts the record of the demo's day at a new path. It is made once for a process, and copied from then on. */
export async function plantRecordedDay(file: string): Promise<void> {
  template ??= makeTemplate()
  const from = await template
  mkdirSync(dirname(file), { recursive: true })
  copyFileSync(from, file)
}

async function makeTemplate(): Promise<string> {
  const file = join(templateFolder(), 'recorded-day.db')
  const demo = await openDemoProject()
  try {
    await using temporary = await temporaryStore({ file })
    await temporary.store.restore(memoryLog(linkEvents(demo.events)))
  } finally {
    demo.remove()
  }
  return file
}
