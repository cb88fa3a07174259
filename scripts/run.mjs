// node scripts/run.mjs <file> [arguments]: sets up what is missing, then runs a file with the Node we develop on.
// One command, because a shell would keep the Node it found first for a second one after `&&`.
import { spawn } from 'node:child_process'
import { setUp } from './setup.mjs'

const { node, environment } = setUp()
const child = spawn(node, process.argv.slice(2), { stdio: 'inherit', env: environment })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1
})
