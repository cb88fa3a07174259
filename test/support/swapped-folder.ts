import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** Swaps a folder for a link to another one and back, thousands of times a second, until the test ends. */
export async function swapFolder(folder: string, outside: string): Promise<void> {
  const swaps = `
    const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs')
    const { workerData: [folder, outside] } = require('node:worker_threads')
    const attempt = (act) => { try { act() } catch {} }
    const pause = () => { for (const end = performance.now() + Math.random() * 0.3; performance.now() < end; ); }
    for (let at = 0; ; at += 1) {
      const aside = folder + '-' + at
      attempt(() => renameSync(folder, aside))
      attempt(() => symlinkSync(outside, folder))
      pause()
      attempt(() => unlinkSync(folder))
      attempt(() => renameSync(aside, folder))
      attempt(() => rmSync(aside, { recursive: true, force: true }))
      pause()
    }`
  const worker = new Worker(swaps, { eval: true, workerData: [folder, outside] })
  onTestFinished(async () => void (await worker.terminate()))
  await new Promise((resolve) => worker.once('online', resolve))
}
