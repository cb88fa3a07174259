// Runs the built program again and again in one process, each time as if it had just been started: with the words, the
// folder, the variables, the input and the streams of that run.
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { createRequire, flushCompileCache } from 'node:module'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [bin, channel] = process.argv.slice(2)
const { bundleFor } = await import(pathToFileURL(join(bin, '..', 'loading.js')).href)
const dist = join(bin, '..', '..', 'dist')
const { main } = await import(pathToFileURL(join(dist, 'waymark.js')).href)

/** As `bin/waymark.js` starts it. */
function start(words) {
  const name = bundleFor(words)
  return name.endsWith('.cjs') ? createRequire(import.meta.url)(join(dist, name)).hook(words) : main()
}

const variables = process.env
const exit = process.exit.bind(process)
const { console } = globalThis

/** What `process.exit` throws here, because nothing goes on after it. */
class Exit extends Error {}

// A timer of a run that has ended never fires: its process would be gone.
const { setTimeout: later } = globalThis
let runs = 0
globalThis.setTimeout = (work, ...more) => {
  const begunIn = runs
  return later((...given) => begunIn === runs && work(...given), ...more)
}

// Where a signal was not enough, the program refuses all work: in this process from then on.
let isSpent = false
const abort = Object.getOwnPropertyDescriptor(AbortController.prototype, 'abort').value
AbortController.prototype.abort = function (reason) {
  isSpent ||= reason?.reason === 'shutting_down'
  abort.call(this, reason)
}

/** Ends the present run, while there is one. */
let leave = null

process.on('uncaughtException', (error) => {
  if (leave === null) throw error
  leave(error)
})
const listeners = new Map(process.eventNames().map((name) => [name, process.listeners(name)]))

/** Runs the program to its end, and answers its exit code, and whether this process may run no other one. */
async function run({ words, folder, environment, stdin, told }) {
  process.chdir(folder)
  replaceVariables(environment)
  process.argv = [process.execPath, bin, ...words]
  // A server has its library say things by methods of its own.
  globalThis.console = Object.create(console)
  process.exitCode = undefined
  process.exit = (code = process.exitCode) => {
    process.exitCode = code
    throw new Exit()
  }
  replaceStream('stdin', stdin)
  replaceStream(
    'stdout',
    streamTo((chunk) => told('out', chunk)),
  )
  replaceStream(
    'stderr',
    streamTo((chunk) => told('error', chunk)),
  )
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => undefined)
  const before = underWay()
  const left = new Promise((_, reject) => {
    leave = reject
  })
  try {
    await Promise.race([left, start(words).then(() => idleSince(before))])
  } catch (error) {
    if (!(error instanceof Exit)) {
      process.exitCode = 1
      process.stderr.write(`${error?.stack ?? error}\n`)
    }
  }
  leave = null
  runs += 1
  // A host is killed, and would keep nothing of what it compiled.
  if (runs === 1 || runs === 20) flushCompileCache()
  const code = Number(process.exitCode ?? 0)
  // What the program does at its exit it does now. Shells that start git and are idle then stay for the next run.
  process.emit('exit', code)
  process.exitCode = undefined
  process.exit = exit
  globalThis.console = console
  restoreListeners()
  return { code, isSpent }
}

/** A process ends when nothing that it began is under way. */
async function idleSince(before) {
  for (
    let now = underWay();
    [...now].some(([kind, count]) => count > (before.get(kind) ?? 0));
    now = underWay()
  )
    await pause(1)
}

function underWay() {
  const counts = new Map()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Its own for each run, because the program remembers things by the variables that it was started with. */
function replaceVariables(environment) {
  for (const name of Object.keys(variables)) if (!(name in environment)) delete variables[name]
  Object.assign(variables, environment)
  process.env = { ...environment }
}

function replaceStream(name, value) {
  Object.defineProperty(process, name, { value, configurable: true })
}

function streamTo(tell) {
  return new Writable({
    write: (chunk, _encoding, done) => {
      tell(chunk)
      done()
    },
  })
}

function restoreListeners() {
  for (const name of process.eventNames()) {
    // The program listens for its exit once, when a part of it is loaded.
    if (name === 'exit') continue
    const kept = listeners.get(name) ?? []
    for (const listener of process.listeners(name)) if (!kept.includes(listener)) process.off(name, listener)
  }
}

/** Standard input, for those who read file descriptor 0. */
function readFrom(file) {
  closeSync(0)
  if (openSync(file) !== 0) throw new Error('Standard input was not replaced.')
}

/** Standard output, of those who write to file descriptor 1. */
function writeTo(file) {
  closeSync(1)
  if (openSync(file, 'w') !== 1) throw new Error('Standard output was not replaced.')
}

/** The lines of a pipe, read while nothing else goes on: a read of our own under way would look like work of a run. */
function* linesOf(pipe) {
  const chunk = Buffer.alloc(1 << 16)
  let parts = []
  for (let read = readSync(pipe, chunk); read > 0; read = readSync(pipe, chunk)) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1 && end < read; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8')
      parts = []
      from = end + 1
    }
    parts.push(Buffer.from(chunk.subarray(from, read)))
  }
}

/** Each line of one pipe is a run; its outcome is written to the other. Whoever asks waits. */
async function runLines() {
  const answers = openSync(`${channel}.answers`, 'w')
  const given = `${channel}.input`
  const written = `${channel}.output`
  for (const line of linesOf(openSync(`${channel}.runs`))) {
    const { input, ...more } = JSON.parse(line)
    const said = { out: [], error: [] }
    writeFileSync(given, input)
    readFrom(given)
    writeTo(written)
    const stdin = new PassThrough()
    stdin.end(input)
    const { code } = await run({ ...more, stdin, told: (where, chunk) => said[where].push(chunk) })
    said.out.push(readFileSync(written))
    const [out, error] = [said.out, said.error].map((chunks) => Buffer.concat(chunks).toString('utf8'))
    const bytes = Buffer.from(`${JSON.stringify({ code, out, error })}\n`)
    for (let at = 0; at < bytes.length; ) at += writeSync(answers, bytes, at)
  }
  for (const file of [given, written]) rmSync(file, { force: true })
  exit(0)
}

/** Runs that are spoken to while they last, one after the other. */
function runMessages() {
  let stdin = null
  const begin = async (message) => {
    stdin = new PassThrough()
    readFrom(devNull)
    const end = await run({
      ...message,
      stdin,
      told: (where, chunk) => process.send({ [where]: chunk }),
    })
    process.send(end)
  }
  process.on('message', (message) => {
    if ('input' in message) stdin.write(message.input)
    else if ('end' in message) stdin.end()
    else void begin(message)
  })
  listeners.set('message', process.listeners('message'))
}

// A host ends with the tests.
process.on('disconnect', () => exit(0))
listeners.set('disconnect', process.listeners('disconnect'))
if (channel === undefined) runMessages()
else await runLines()
