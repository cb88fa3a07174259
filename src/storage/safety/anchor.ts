import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A fact that a journal held: it still does, unless it was cut or replaced. */
export interface Point {
  readonly projectId: string
  readonly seq: number
  readonly hash: string
}

export interface Anchored {
  /** Null where there was no record yet. */
  readonly point: Point | null
  /** Another one means that a person restored a backup, or took the record as it is: what was known before is over. */
  readonly lineage: string
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

// Milliseconds between two writes. What is anchored may lag behind the journal; it is never ahead of it.
const pause = 50

/** Where a journal had come to, in a file outside the database. Written after the commits that it tells of. */
export class Anchor {
  readonly #path: string | null
  #due: Anchored | null = null
  #timer: NodeJS.Timeout | null = null
  /** When it was written last, of `performance.now`. */
  #written = -pause

  constructor(path: string | null) {
    this.#path = path
  }

  /** Null where there is none, or none that can be read. */
  read(): Anchored | null {
    if (this.#path === null) return null
    try {
      return anchoredIn(JSON.parse(readFileSync(this.#path, 'utf8')))
    } catch {
      return null
    }
  }

  /** Writes it soon, unless it is of another lineage by then, or further on. */
  keep(anchored: Anchored): void {
    if (this.#path === null) return
    this.#due = anchored
    if (this.#timer !== null) return
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.flush()
      },
      Math.max(0, this.#written + pause - performance.now()),
    ).unref()
  }

  flush(): void {
    const due = this.#due
    this.#due = null
    if (due === null) return
    const now = this.read()
    if (now && (now.lineage !== due.lineage || (now.point?.seq ?? 0) > (due.point?.seq ?? 0))) return
    this.#written = performance.now()
    // Without it nothing is lost but the check: no reason to fail a call that was recorded.
    try {
      this.#write(due)
    } catch {}
  }

  /** Begins another lineage at once: a person vouches for what is there. Fails where it cannot be written. */
  begin(point: Point | null, at: number): void {
    this.#due = null
    if (this.#path !== null) this.#write({ point, lineage: newLineage(), at })
  }

  #write(anchored: Anchored): void {
    if (this.#path === null) return
    const temporary = `${this.#path}.${process.pid}-${randomBytes(4).toString('hex')}`
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    try {
      writeFileSync(temporary, JSON.stringify({ version: 1, ...anchored }), { mode: 0o600 })
      renameSync(temporary, this.#path)
    } finally {
      rmSync(temporary, { force: true })
    }
  }
}

export function newLineage(): string {
  return randomBytes(8).toString('hex')
}

function anchoredIn(value: unknown): Anchored | null {
  if (!isObject(value) || typeof value['lineage'] !== 'string' || typeof value['at'] !== 'number') return null
  const { lineage, at, point } = value
  if (point === null) return { point, lineage, at }
  if (!isObject(point)) return null
  const { projectId, seq, hash } = point
  if (typeof projectId !== 'string' || typeof seq !== 'number' || typeof hash !== 'string') return null
  return { point: { projectId, seq, hash }, lineage, at }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
