import { Disk, Host, type Process, Queue, randomFrom, Signal, World } from './engine.ts'

/** What one call of a kind costs; processor times in milliseconds. */
export interface Demand {
  readonly events: number
  readonly replica: number
  readonly database: number
  /** What the caller's own process needs for it, where it runs on the same machine. */
  readonly caller: number
  /** Times that the replica waits for an answer of the database, before it asks for the project's lock. */
  readonly tripsBefore: number
  /** The same while it holds the lock, without the commit. None for a call that only reads. */
  readonly tripsUnderLock: number
  /** Shares of the processor times that are spent while it holds the lock. */
  readonly underLock: { readonly replica: number; readonly database: number }
}

export interface Services {
  readonly calls: Readonly<Record<string, Demand>>
  /** Of one trip to the database and back, without processor time. */
  readonly trip: number
  /** Deciles of one flush of the disk. */
  readonly flushes: readonly number[]
  /** Processor time of a replica for each log entry that it tells, and for each socket that it tells it to. */
  readonly frame: number
  readonly frameOfSocket: number
  /** Processor time of the database for one reading of new log entries. */
  readonly reading: number
  /** From the commit until a waiting replica knows. */
  readonly wake: number
}

export interface Machine {
  readonly cores: number
  /** How much longer work takes there because it waits for a processor: 1, or nothing, is not at all. */
  readonly slowdown?: number
}

export interface Installation {
  readonly replicas: number
  readonly pool: number
  /** One for the database and each replica; or one for everything. */
  readonly machines: 'shared' | 'separate'
  readonly database: Machine
  readonly replica: Machine
}

export interface Crowd {
  /** Agents of each project. */
  readonly agents: readonly number[]
  /** How often each kind of call is made, as weights. */
  readonly mix: Readonly<Record<string, number>>
  /** Milliseconds until the next call; callers of a benchmark do not wait. */
  readonly pause: (random: () => number) => number
  /** Sockets that follow each project, spread over the replicas. */
  readonly followers: number
}

export interface Outcome {
  readonly callsPerSecond: number
  readonly eventsPerSecond: number
  readonly kinds: Readonly<Record<string, { readonly perSecond: number; readonly spent: readonly number[] }>>
  /** From the commit to the frame. */
  readonly live: readonly number[]
  /** Shares from 0 to 1. */
  readonly replicas: number
  readonly database: number
  /** How much longer work on the machine of the database took because other work of the same was there: 1 is not at all. */
  readonly slowdown: number
  readonly hottestLock: number
  readonly disk: number
  /** Connections of all replicas: those in use at most, and those that may be open, with the ones that listen. */
  readonly connectionsUsed: number
  readonly connections: number
}

export interface Simulated {
  readonly services: Services
  readonly installation: Installation
  readonly crowd: Crowd
  /** Milliseconds that are simulated; the first tenth is not counted. */
  readonly time: number
  readonly seed: number
}

// As in src/store/postgres/group-commit.ts.
const sideBySide = 2
const maxTogether = 16

interface Replica {
  readonly host: Host
  readonly thread: Queue
  readonly pool: Queue
  readonly lines: Map<number, Line>
  readonly feeds: Map<number, Feed>
}

/** Who waits in a replica to be recorded in one project. */
interface Line {
  readonly waiting: {
    readonly demand: Demand
    readonly done: Signal
  }[]
  underWay: number
}

interface Feed {
  readonly signal: Signal
  readonly commits: number[]
  readonly sockets: number
}

/** Lets a crowd work on an installation. Same seed, same outcome. */
export function simulate({ services, installation, crowd, time, seed }: Simulated): Outcome {
  const world = new World()
  const random = randomFrom(seed)
  const databaseHost = new Host(world, installation.database)
  const isShared = installation.machines === 'shared'
  const replicas = Array.from({ length: installation.replicas }, (): Replica => {
    return {
      host: isShared ? databaseHost : new Host(world, installation.replica),
      thread: new Queue(world, 1),
      pool: new Queue(world, installation.pool),
      lines: new Map(),
      feeds: new Map(),
    }
  })
  const disk = new Disk(world, () => services.flushes[Math.floor(random() * services.flushes.length)] ?? 0)
  const locks = crowd.agents.map(() => new Queue(world, 1))
  const begins = time / 10
  const kinds = Object.keys(crowd.mix)
  const weight = kinds.reduce((sum, kind) => sum + (crowd.mix[kind] ?? 0), 0)
  const spent = new Map(kinds.map((kind) => [kind, [] as number[]]))
  const live: number[] = []
  let events = 0

  function* onReplica({ thread, host }: Replica, work: number): Process {
    yield { for: 'place', queue: thread }
    yield { for: 'work', host, work }
    thread.give()
  }

  function* trips(
    replica: Replica,
    count: number,
    each: { readonly replica: number; readonly database: number },
  ): Process {
    for (let trip = 0; trip < count; trip += 1) {
      yield { for: 'work', host: databaseHost, work: each.database }
      yield { for: 'time', time: services.trip }
      yield* onReplica(replica, each.replica)
    }
  }

  function* write(replica: Replica, project: number, demand: Demand): Process {
    const { tripsBefore, underLock } = demand
    const outside = {
      replica: (demand.replica * (1 - underLock.replica)) / (tripsBefore + 2),
      database: (demand.database * (1 - underLock.database)) / Math.max(1, tripsBefore),
    }
    yield* onReplica(replica, outside.replica)
    if (tripsBefore > 0) {
      yield { for: 'place', queue: replica.pool }
      yield* trips(replica, tripsBefore, outside)
      replica.pool.give()
    }
    const line = replica.lines.get(project) ?? { waiting: [], underWay: 0 }
    replica.lines.set(project, line)
    const done = new Signal()
    line.waiting.push({ demand, done })
    next(replica, project, line)
    yield { for: 'signal', signal: done }
    yield* onReplica(replica, outside.replica)
    if (world.now > begins) events += demand.events
  }

  function next(replica: Replica, project: number, line: Line): void {
    while (line.underWay < sideBySide && line.waiting.length > 0) {
      line.underWay += 1
      world.start(together(replica, project, line))
    }
  }

  /** All that wait, in one transaction. */
  function* together(replica: Replica, project: number, line: Line): Process {
    const lock = locks[project]
    if (!lock) return
    const members = line.waiting.splice(0, maxTogether)
    yield { for: 'place', queue: replica.pool }
    yield { for: 'place', queue: lock }
    for (const { replica: cpu, database, tripsUnderLock, underLock } of members.map(({ demand }) => demand)) {
      // The first questions come with the lock, or behind what the one before it wrote; what is written goes last.
      const each = {
        replica: (cpu * underLock.replica) / (tripsUnderLock + 1),
        database: (database * underLock.database) / (tripsUnderLock + 2),
      }
      yield* trips(replica, tripsUnderLock + 1, each)
      yield { for: 'work', host: databaseHost, work: each.database }
    }
    yield { for: 'flush', disk }
    lock.give()
    for (let at = 0; at < Math.min(crowd.followers, replicas.length); at += 1) {
      const follower = replicas[(project + at) % replicas.length]
      if (follower) told(follower, project)
    }
    yield { for: 'time', time: services.trip }
    replica.pool.give()
    line.underWay -= 1
    next(replica, project, line)
    for (const { done } of members) done.raise()
  }

  function* read(replica: Replica, demand: Demand): Process {
    const count = Math.max(1, demand.tripsBefore)
    const each = { replica: demand.replica / (count + 1), database: demand.database / count }
    yield* onReplica(replica, each.replica)
    yield { for: 'place', queue: replica.pool }
    yield* trips(replica, count, each)
    replica.pool.give()
  }

  function told(replica: Replica, project: number): void {
    const known = replica.feeds.get(project)
    const sockets = crowd.followers / Math.min(crowd.followers, replicas.length)
    const feed = known ?? { signal: new Signal(), commits: [], sockets }
    feed.commits.push(world.now)
    if (known) {
      known.signal.raise()
      return
    }
    replica.feeds.set(project, feed)
    feed.signal.raise()
    world.start(follow(replica, feed))
  }

  function* follow(replica: Replica, feed: Feed): Process {
    for (;;) {
      yield { for: 'signal', signal: feed.signal }
      yield { for: 'time', time: services.wake }
      const commits = feed.commits.splice(0)
      yield { for: 'place', queue: replica.pool }
      yield { for: 'work', host: databaseHost, work: services.reading }
      yield { for: 'time', time: 2 * services.trip }
      replica.pool.give()
      const each = services.frame + services.frameOfSocket * feed.sockets
      yield* onReplica(replica, each * commits.length)
      if (world.now > begins) for (const committed of commits) live.push(world.now - committed)
    }
  }

  function kindAt(share: number): string {
    let left = share * weight
    for (const kind of kinds) {
      left -= crowd.mix[kind] ?? 0
      if (left < 0) return kind
    }
    return kinds[0] ?? ''
  }

  function* agent(project: number, number: number): Process {
    yield { for: 'time', time: random() * crowd.pause(random) }
    for (;;) {
      const kind = kindAt(random())
      const demand = services.calls[kind]
      const replica = replicas[number % replicas.length]
      if (!demand || !replica) return
      const asked = world.now
      if (demand.caller > 0) yield { for: 'work', host: replica.host, work: demand.caller }
      yield* demand.events > 0 ? write(replica, project, demand) : read(replica, demand)
      if (world.now > begins) spent.get(kind)?.push(world.now - asked)
      yield { for: 'time', time: crowd.pause(random) }
    }
  }

  let number = 0
  for (const [project, count] of crowd.agents.entries()) {
    for (let one = 0; one < count; one += 1) world.start(agent(project, number++))
  }
  world.run(time)
  const seconds = (time - begins) / 1000
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const perHost = (host: Host, cores: number) => host.used / cores / time
  return {
    callsPerSecond: [...spent.values()].reduce((sum, { length }) => sum + length, 0) / seconds,
    eventsPerSecond: events / seconds,
    kinds: Object.fromEntries(
      [...spent].map(([kind, times]) => [kind, { perSecond: times.length / seconds, spent: times }]),
    ),
    live,
    replicas: mean(replicas.map(({ thread }) => thread.share())),
    database: perHost(databaseHost, installation.database.cores),
    slowdown: databaseHost.stayed / databaseHost.used,
    hottestLock: locks[0]?.share() ?? 0,
    disk: disk.used / time,
    connectionsUsed: replicas.reduce((sum, { pool }) => sum + pool.most, 0),
    connections: installation.replicas * (installation.pool + 1),
  }
}

/** A call every five seconds on average: some close together, then a while at work. */
export function agentsPause(random: () => number): number {
  const isBurst = random() < 0.8
  return -Math.log(1 - random()) * (isBurst ? 1_000 : 21_000)
}

/** So many agents over so many projects, the n-th with a share of 1 / n to a power. */
export function crowded(agents: number, projects: number, power: number): readonly number[] {
  const weights = Array.from({ length: projects }, (_, index) => 1 / (index + 1) ** power)
  const sum = weights.reduce((total, each) => total + each, 0)
  let due = 0
  let given = 0
  return weights.map((each) => {
    due += (each / sum) * agents
    const count = Math.round(due) - given
    given += count
    return count
  })
}
