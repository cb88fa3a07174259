import { describe, expect, test } from 'vitest'
import { crowded, type Demand, type Services, type Simulated, simulate } from '../../bench/team/simulation.ts'

// The simulation of `bench/team.ts`, where what comes out can be told by hand.

const log: Demand = {
  events: 1,
  replica: 4,
  database: 3,
  caller: 0,
  tripsBefore: 0,
  tripsUnderLock: 1,
  underLock: { replica: 0.5, database: 1 },
}
const read: Demand = {
  events: 0,
  replica: 2,
  database: 1,
  caller: 0,
  tripsBefore: 1,
  tripsUnderLock: 0,
  underLock: { replica: 0, database: 0 },
}
const services: Services = {
  calls: { log, read },
  trip: 1,
  flushes: [2],
  frame: 0.5,
  frameOfSocket: 0,
  reading: 0,
  wake: 3,
}

function simulated(changes: {
  readonly agents: readonly number[]
  readonly replicas?: number
  readonly pool?: number
  readonly mix?: Readonly<Record<string, number>>
  readonly followers?: number
  readonly seed?: number
}): Simulated {
  const { agents, replicas = 1, pool = 10, mix = { log: 1 }, followers = 0, seed = 1 } = changes
  return {
    services,
    installation: { replicas, pool, machines: 'separate', database: { cores: 64 }, replica: { cores: 1 } },
    crowd: { agents, mix, pause: () => 0, followers },
    time: 8_000,
    seed,
  }
}

describe('the simulation', () => {
  test('of one caller takes as long as the parts of its call', () => {
    // Four parts of the replica, three of the database, two trips, the flush, and the trip of the commit's answer.
    const { kinds, callsPerSecond } = simulate(simulated({ agents: [1] }))
    expect(kinds['log']?.spent[0]).toBeCloseTo(4 + 3 + 2 + 2 + 1, 6)
    expect(callsPerSecond).toBeCloseTo(1000 / 12, 0)
  })

  test('lets one project be written only as fast as its lock is free, however many replicas there are', () => {
    // Held: two trips, each with a part of the replica, three parts of the database, and the flush.
    const held = 2 * (1 + 1) + 3 + 2
    const { callsPerSecond, hottestLock } = simulate(simulated({ agents: [8], replicas: 8 }))
    expect(hottestLock).toBeGreaterThan(0.98)
    expect(callsPerSecond / (1000 / held)).toBeCloseTo(1, 1)
  })

  test('lets those who wait in one replica share the flush', () => {
    const slow = { ...services, flushes: [10] }
    const { callsPerSecond, hottestLock } = simulate({ ...simulated({ agents: [64] }), services: slow })
    expect(hottestLock).toBeGreaterThan(0.98)
    // More than if each paid for it, and no more than if nobody did.
    const held = 2 * (1 + 1) + 3
    expect(callsPerSecond).toBeGreaterThan(1.5 * (1000 / (held + 10)))
    expect(callsPerSecond).toBeLessThan(1000 / held)
  })

  test('lets many projects be written as fast as the thread of the replica and the shared flush allow', () => {
    const one = simulate(simulated({ agents: Array.from({ length: 64 }, () => 1), pool: 64 }))
    expect(one.replicas).toBeGreaterThan(0.95)
    expect(one.callsPerSecond / (1000 / log.replica)).toBeCloseTo(1, 1)
    const four = simulate(simulated({ agents: Array.from({ length: 64 }, () => 1), replicas: 4 }))
    expect(four.callsPerSecond).toBeGreaterThan(2.5 * one.callsPerSecond)
  })

  test('never uses more connections than the pools have', () => {
    const agents = Array.from({ length: 40 }, () => 2)
    const { connectionsUsed, connections } = simulate(simulated({ agents, replicas: 2, pool: 3 }))
    expect(connectionsUsed).toBe(6)
    expect(connections).toBe(8)
  })

  test('tells those who follow each log entry once, not before they can know', () => {
    const { live, eventsPerSecond } = simulate(
      simulated({ agents: [1], followers: 1, mix: { log: 1, read: 1 } }),
    )
    expect(live.length / (eventsPerSecond * 7.2)).toBeCloseTo(1, 1)
    expect(Math.min(...live)).toBeGreaterThanOrEqual(services.wake + services.frame)
  })

  test('comes out the same for the same seed, and otherwise for another', () => {
    const mix = { log: 1, read: 3 }
    const first = simulate(simulated({ agents: [5, 3], mix }))
    expect(simulate(simulated({ agents: [5, 3], mix }))).toEqual(first)
    expect(simulate(simulated({ agents: [5, 3], mix, seed: 2 }))).not.toEqual(first)
  })

  test('spreads agents over projects by their rank, and loses none', () => {
    const agents = crowded(10_000, 200, 1)
    expect(agents.reduce((sum, count) => sum + count, 0)).toBe(10_000)
    expect((agents[0] ?? 0) / (agents[9] ?? 1)).toBeCloseTo(10, 0)
  })
})
