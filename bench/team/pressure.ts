import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'

/** What else the machine did during a stretch of work, where the system tells (Linux). */
export interface Pressure {
  readonly load: number
  /** Tasks of others that ran or waited for a processor, on average. */
  readonly others: number
  /** How much longer our own took because they waited for a processor: 1 is not at all. */
  readonly slowdown: number
}

interface Time {
  readonly ran: number
  readonly waited: number
}

/** Watches from now until it is asked. `own` are the processes that do the work, with the children of each. */
export function watched(own: readonly number[]): () => Pressure {
  const begun = performance.now()
  const before = timeOf(own)
  const counts: number[] = []
  const timer = setInterval(() => counts.push(running()), 20)
  return () => {
    clearInterval(timer)
    const after = timeOf(own)
    const wall = performance.now() - begun
    const ran = after.all.ran - before.all.ran
    const waited = after.all.waited - before.all.waited
    const main = after.main.ran - before.main.ran
    const held = after.main.waited - before.main.waited
    const all = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length)
    return {
      load: loadavg()[0] ?? 0,
      others: Math.max(0, all - (ran + waited) / wall),
      slowdown: main > 0 ? (main + held) / main : 1,
    }
  }
}

function running(): number {
  return Math.max(0, Number(read('/proc/loadavg').split(' ')[3]?.split('/')[0] ?? 1) - 1) // without the one that reads
}

interface Times {
  readonly all: Time
  /** Of the first thread of each process, which answers: the others are V8's, which nobody waits for. */
  readonly main: Time
}

/** Processor time and time in the queue for one, of processes with their children, in milliseconds. */
function timeOf(pids: readonly number[]): Times {
  const parents = new Map(pidsOfAll().map((pid) => [pid, parentOf(pid)]))
  const isOurs = (pid: number): boolean =>
    pids.includes(pid) || (parents.has(pid) && isOurs(parents.get(pid) ?? 0))
  const ours = [...parents.keys()].filter(isOurs)
  return {
    all: total(
      ours.flatMap((pid) =>
        namesIn(`/proc/${pid}/task`).map((thread) => timeIn(`/proc/${pid}/task/${thread}`)),
      ),
    ),
    main: total(ours.map((pid) => timeIn(`/proc/${pid}`))),
  }
}

function total(times: readonly Time[]): Time {
  return {
    ran: times.reduce((sum, { ran }) => sum + ran, 0),
    waited: times.reduce((sum, { waited }) => sum + waited, 0),
  }
}

/**
 * Processor time so far of a process and its children, in milliseconds, of the thread of each that answers; 0 where the
 * system does not tell.
 */
export function cpuOfTree(pid: number): number {
  return timeOf([pid]).main.ran
}

function pidsOfAll(): readonly number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

function timeIn(folder: string): Time {
  const [ran = 0, waited = 0] = read(`${folder}/schedstat`).split(' ').map(Number)
  return { ran: ran / 1e6, waited: waited / 1e6 }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // it ended meanwhile, or the system has no such folder
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
