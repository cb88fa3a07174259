import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

// Holds the write lock of a database until there is a file.
const [file = '', end = ''] = process.argv.slice(2)
const database = new Database(file)
database.exec('begin immediate')
process.stdout.write('locked\n')
while (!existsSync(end)) await sleep(5)
database.exec('rollback')
database.close()
