import { setTimeout as sleep } from 'node:timers/promises'

/** Waits as long as somebody thinks: the seconds of the day, or a part of them. */
export type Think = (seconds: number) => Promise<void>

export function thinkAt(pace: number): Think {
  return (seconds) => sleep(seconds * pace * 1000)
}

export function say(sentence: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${sentence}\n`)
}
