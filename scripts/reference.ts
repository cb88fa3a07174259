// Writes docs/reference from the catalog, and the schema of processes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedSchema } from '../src/gate/process-files/dialect.ts'
import { catalog } from '../src/kernel/operations/catalog.ts'
import { referencePages } from './reference/pages.ts'

const folder = join(import.meta.dirname, '..', 'docs', 'reference')

mkdirSync(folder, { recursive: true })
for (const [name, text] of referencePages(catalog)) {
  writeFileSync(join(folder, name), text)
  console.log(`docs/reference/${name}`)
}

writeFileSync(join(import.meta.dirname, '..', 'processes', 'process.schema.json'), publishedSchema())
console.log('processes/process.schema.json')
