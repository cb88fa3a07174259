// node with-model.mjs <request as JSON>: starts a scripted model, runs one client against it, and tells on standard output
// what the client asked of the model and what it said. `{model}` in a word or a variable becomes the model's address.
import { spawn } from 'node:child_process'
import { startModel } from './model-server.mjs'

const { script, program, words, folder, environment, timeout } = JSON.parse(process.argv[2] ?? '{}')
const model = await startModel(script)
const withModel = (text) => text.replaceAll('{model}', model.url)
const child = spawn(program, words.map(withModel), {
  cwd: folder,
  env: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, withModel(value)])),
  stdio: ['ignore', 'pipe', 'pipe'],
})
const out = []
const error = []
child.stdout.on('data', (chunk) => out.push(chunk))
child.stderr.on('data', (chunk) => error.push(chunk))
const late = setTimeout(() => child.kill('SIGKILL'), timeout)
const code = await new Promise((resolve) => child.on('close', resolve))
clearTimeout(late)
model.close()
const text = (chunks) => Buffer.concat(chunks).toString('utf8')
process.stdout.write(JSON.stringify({ code, out: text(out), error: text(error), asked: model.seen }))
process.exit(0)
