// What the program does on a Node that is too old for it. Plain ESM without dependencies, like node-version.js.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isNewEnough } from './node-version.js'

/**
 * The Node of a package beside this one, new enough and able to run; or null. Only the folders that this package
 * is installed in are searched, never the working folder: what lies there is not ours to run.
 */
export function broughtNode(from = dirname(fileURLToPath(import.meta.url))) {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = from; ; folder = dirname(folder)) {
    const node = join(folder, 'node_modules', 'node', 'bin', name)
    if (existsSync(node) && runs(node)) return node
    if (folder === dirname(folder)) return null
  }
}

function runs(node) {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && isNewEnough(stdout.trim().replace(/^v/, ''))
}

/** Runs the same command line with another Node, as if it had been started with it. */
export function runWith(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  // Ctrl-C reaches the child too, by the terminal, and often ends it; what is sent to this process alone is handed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => setTimeout(() => child.kill(signal), 100))
  child.on('error', (error) => {
    process.stderr.write(`waymark: ${node} could not be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/** Answers every request of an MCP client with an error that says why there is no server, until the client leaves. */
export function refuseRequests(sentence) {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  lines.on('line', (line) => {
    const id = idOfRequest(line)
    if (id === undefined) return
    const error = { code: -32000, message: sentence }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  })
  // The client went away without reading: there is no one left to tell.
  process.stdout.on('error', () => process.exit(1))
}

function idOfRequest(line) {
  try {
    const { id, method } = JSON.parse(line)
    return typeof method === 'string' && ['string', 'number'].includes(typeof id) ? id : undefined
  } catch {
    return undefined
  }
}
