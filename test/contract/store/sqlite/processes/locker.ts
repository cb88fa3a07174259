import Database from 'better-sqlite3'

// Holds the write lock of a database for some milliseconds.
const [file = '', duration = '0'] = process.argv.slice(2)
const database = new Database(file)
database.exec('begin immediate')
process.stdout.write('locked\n')
setTimeout(() => {
  database.exec('rollback')
  database.close()
}, Number(duration))
