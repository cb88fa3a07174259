import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { soakTest } from '../../test/support/amount.ts'

// Prints when a signal arrives, cleans up, and keeps working for a while.
const program = (does: string, work: number) => `
  import { endSignal } from ${JSON.stringify(new URL('./process.ts', import.meta.url).href)}
  const ended = endSignal().then((name) => {
    console.log(name)
    ${does}
    setTimeout(() => process.exit(0), ${work})
  })
  setInterval(() => {}, 1000)
  console.log('ready')
  await ended`

async function runChild({ does = '', work }: { readonly does?: string; readonly work: number }) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(does, work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [name] = await once(child.stdout, 'data')
  return { child, name: String(name).trim(), code: ended.then(([code]) => code as number | null) }
}

test.skipIf(process.platform === 'win32')('Ctrl-C that arrives twice at once is one', async () => {
  // It signals itself: a signal from this process may take longer than half a second.
  const { name, code } = await runChild({ does: "process.kill(process.pid, 'SIGINT')", work: 1_000 })
  expect([name, await code]).toEqual(['SIGINT', 0])
})

soakTest.skipIf(process.platform === 'win32')('Ctrl-C pressed again ends at once', async () => {
  const { child, name, code } = await runChild({ work: 300_000 })
  await sleep(700)
  child.kill('SIGINT')
  expect([name, await code]).toEqual(['SIGINT', 130])
})
