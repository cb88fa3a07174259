import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'

// Says when it was told, and works for a second then.
const program = `
  import { endSignal } from ${JSON.stringify(new URL('./process.ts', import.meta.url).href)}
  const ended = endSignal().then((name) => {
    console.log(name)
    setTimeout(() => process.exit(0), 1000)
  })
  setInterval(() => {}, 1000)
  console.log('ready')
  await ended`

async function told(again: number) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [name] = await once(child.stdout, 'data')
  await sleep(again)
  child.kill('SIGINT')
  const [code] = await ended
  return { name: String(name).trim(), code }
}

test.skipIf(process.platform === 'win32')('Ctrl-C that arrives twice at once is one', async () => {
  expect(await told(0)).toEqual({ name: 'SIGINT', code: 0 })
})

test.skipIf(process.platform === 'win32')('Ctrl-C pressed again ends at once', async () => {
  expect(await told(700)).toEqual({ name: 'SIGINT', code: 130 })
})
