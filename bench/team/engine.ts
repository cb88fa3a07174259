/** What a process of the simulation asks for; it goes on when it has it. Times are milliseconds. */
export type Step =
  | { readonly for: 'time'; readonly time: number }
  | { readonly for: 'work'; readonly host: Host; readonly work: number }
  | { readonly for: 'place'; readonly queue: Queue }
  | { readonly for: 'flush'; readonly disk: Disk }
  | { readonly for: 'signal'; readonly signal: Signal }

export type Process = Generator<Step, void, void>

/** A clock and what is to happen, in order of time and then of asking. */
export class World {
  now = 0
  readonly #coming = new Heap<{ readonly at: number; readonly order: number; readonly happen: () => void }>(
    (one, other) => one.at - other.at || one.order - other.order,
  )
  #order = 0

  at(time: number, happen: () => void): void {
    this.#coming.add({ at: time, order: this.#order++, happen })
  }

  start(process: Process): void {
    const go = (): void => {
      const { value, done } = process.next()
      if (done) return
      if (value.for === 'time') this.at(this.now + value.time, go)
      if (value.for === 'work') value.host.work(value.work, go)
      if (value.for === 'place') value.queue.take(go)
      if (value.for === 'flush') value.disk.flush(go)
      if (value.for === 'signal') value.signal.wait(go)
    }
    go()
  }

  run(until: number): void {
    for (let next = this.#coming.first(); next && next.at <= until; next = this.#coming.first()) {
      this.#coming.take()
      this.now = next.at
      next.happen()
    }
    this.now = until
  }
}

/** A machine whose processors are shared evenly by all that is at work on it; others may hold up each of them. */
export class Host {
  readonly #world: World
  readonly #cores: number
  readonly #slowdown: number
  readonly #jobs = new Heap<{ readonly due: number; readonly go: () => void }>(
    (one, other) => one.due - other.due,
  )
  // What one job has been given so far: all are given the same.
  #given = 0
  #lookedAt = 0
  #version = 0
  /** Processor milliseconds used. */
  used = 0
  /** Milliseconds that jobs were there, at work or waiting for a processor. */
  stayed = 0

  constructor(world: World, size: { readonly cores: number; readonly slowdown?: number }) {
    this.#world = world
    this.#cores = size.cores
    this.#slowdown = size.slowdown ?? 1
  }

  work(work: number, go: () => void): void {
    this.#catchUp()
    this.used += work
    const came = this.#world.now
    const leave = (): void => {
      this.stayed += this.#world.now - came
      go()
    }
    this.#jobs.add({ due: this.#given + work, go: leave })
    this.#plan()
  }

  #rate(): number {
    return Math.min(1 / this.#slowdown, this.#cores / this.#jobs.size)
  }

  #catchUp(): void {
    if (this.#jobs.size > 0) this.#given += (this.#world.now - this.#lookedAt) * this.#rate()
    this.#lookedAt = this.#world.now
  }

  #plan(): void {
    this.#version += 1
    const version = this.#version
    const next = this.#jobs.first()
    if (!next) return
    const wait = Math.max(0, next.due - this.#given) / this.#rate()
    this.#world.at(this.#world.now + wait, () => {
      if (version !== this.#version) return
      this.#catchUp()
      const done = this.#jobs.take()
      this.#plan()
      done?.go()
    })
  }
}

/** So many at a time, in the order in which they came. Whoever has a place gives it back. */
export class Queue {
  readonly #world: World
  readonly #places: number
  readonly #waiting = new Line<() => void>()
  #taken = 0
  #since = 0
  /** Place-milliseconds in use. */
  used = 0
  /** The most that were in use at once. */
  most = 0

  constructor(world: World, places: number) {
    this.#world = world
    this.#places = places
  }

  take(go: () => void): void {
    if (this.#taken === this.#places) {
      this.#waiting.add(go)
      return
    }
    this.#count(1)
    go()
  }

  give(): void {
    const next = this.#waiting.take()
    if (next) this.#world.at(this.#world.now, next)
    else this.#count(-1)
  }

  #count(change: number): void {
    this.used += this.#taken * (this.#world.now - this.#since)
    this.#since = this.#world.now
    this.#taken += change
    this.most = Math.max(this.most, this.#taken)
  }

  /** The share of its places in use from the beginning until now. */
  share(): number {
    this.#count(0)
    return this.used / this.#places / this.#world.now
  }
}

/** One flush at a time; all who come during one share the next. */
export class Disk {
  readonly #world: World
  readonly #duration: () => number
  #waiting: (() => void)[] = []
  #isBusy = false
  /** Milliseconds of flushing. */
  used = 0

  constructor(world: World, duration: () => number) {
    this.#world = world
    this.#duration = duration
  }

  flush(go: () => void): void {
    this.#waiting.push(go)
    if (!this.#isBusy) this.#begin()
  }

  #begin(): void {
    const served = this.#waiting
    this.#waiting = []
    this.#isBusy = true
    const time = this.#duration()
    this.used += time
    this.#world.at(this.#world.now + time, () => {
      this.#isBusy = false
      if (this.#waiting.length > 0) this.#begin()
      for (const go of served) go()
    })
  }
}

/** Wakes who waits for it; a call that finds nobody is remembered. */
export class Signal {
  #go: (() => void) | null = null
  #isRaised = false

  wait(go: () => void): void {
    if (!this.#isRaised) {
      this.#go = go
      return
    }
    this.#isRaised = false
    go()
  }

  raise(): void {
    const go = this.#go
    this.#go = null
    if (go) go()
    else this.#isRaised = true
  }
}

class Heap<Item> {
  readonly #items: Item[] = []
  readonly #compare: (one: Item, other: Item) => number

  constructor(compare: (one: Item, other: Item) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  first(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above]
      if (parent === undefined || this.#compare(item, parent) >= 0) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  take(): Item | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return top
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [one, other] = [items[left], items[left + 1]]
      if (one === undefined) break
      const isRight = other !== undefined && this.#compare(other, one) < 0
      const child = isRight ? other : one
      if (this.#compare(last, child) <= 0) break
      items[at] = child
      at = isRight ? left + 1 : left
    }
    items[at] = last
    return top
  }
}

class Line<Item> {
  #items: Item[] = []
  #first = 0

  add(item: Item): void {
    this.#items.push(item)
  }

  take(): Item | undefined {
    const item = this.#items[this.#first]
    if (item === undefined) return undefined
    this.#first += 1
    if (this.#first > 1000) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
