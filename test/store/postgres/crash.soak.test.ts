import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MissionId } from '../../../src/kernel/id.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { agent, aMission } from '../../support/entities.ts'
import { isPostgresLeftOut, ownServer } from '../../support/postgres/database.ts'

const started = (id: string) =>
  ({ kind: 'mission.started', mission: aMission({ id: id as MissionId }) }) as const

describe.skipIf(isPostgresLeftOut)('a server that is killed', () => {
  const long = process.env['WAYMARK_TEST_SOAK'] === '1'
  const cases: readonly (readonly [string, number])[] = [
    ['and is back after 3 seconds: calls wait, and nothing acknowledged is lost or doubled', 3_000],
    ['and is back after 13: calls are told after 10, and a repetition with the key is recorded once', 13_000],
  ]
  test.each(cases.filter(([, away]) => long || away < 10_000))('%s', async (_, away) => {
    await using server = await ownServer()
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-folder-')))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const project = { root, name: null, machine: 'laptop' }
    const store = openPostgresStore({ url: server.url, project, ids: randomIds })
    onTestFinished(() => store.close())
    const happens = (id: string) => {
      const idempotency = { key: id, owner: 'a', connection: null, operation: 'start', inputHash: 'x' }
      return store.record({
        actor: agent,
        at: 1,
        idempotency,
        decide: async () => ({ events: [started(id)], answer: id }),
      })
    }
    await happens('m-first')
    const acknowledged = ['m-first']
    const refused: string[] = []
    let isOver = false
    const writing = Array.from({ length: 4 }, async (__, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `m-${writer}-${number}`
        await happens(id).then(
          () => acknowledged.push(id),
          (error: unknown) => {
            expect(error).toMatchObject({ code: 'UNAVAILABLE' })
            refused.push(id)
          },
        )
        if (refused.length > 0) await sleep(300)
      }
    })
    await sleep(500)
    const killed = performance.now()
    await server.kill()
    await sleep(away)
    await server.start()
    const wasAway = performance.now() - killed
    await sleep(1_500)
    isOver = true
    await Promise.all(writing)
    // On a busy machine a server may take long to start: what counts is how long it was away.
    if (wasAway < 9_000) expect(refused).toEqual([])
    if (away > 10_000) expect(refused.length).toBeGreaterThan(0)
    for (const id of refused) expect(await happens(id)).toBe(id)
    const { events, check } = await store.view(async ({ eventLog: log }) => ({
      events: await log.since(0, 100_000),
      check: await log.verify(),
    }))
    expect(check.brokenAt).toBeNull()
    const missions = events.flatMap(({ body }) => (body.kind === 'mission.started' ? [body.mission.id] : []))
    expect(missions.toSorted()).toEqual([...acknowledged, ...refused].toSorted())
  })
})
