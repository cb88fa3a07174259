import { expect, test } from 'vitest'
import { hostileServer, machineOf } from './hostile-server.ts'
import { ranAt } from './machines.ts'

test('gives a server no content and no line of a committed secret by the id of its object', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const { folder } = machine
  machine.write('.env', 'TOKEN=hidden-in-env\nPIN=1234\n')
  machine.write('README.md', 'Readable\n')
  machine.git('add', '-f', '.env', 'README.md')
  machine.git('commit', '-qm', 'Commit a secret')
  const secret = machine.git('rev-parse', 'HEAD:.env').trim()
  const readable = machine.git('rev-parse', 'HEAD:README.md').trim()
  const show = ['review', 'show', 't-1', '--json']
  const end = { id: 'a-1', top: folder, prefix: '', engine: 'git' }
  server.askToMeasure('review_show', [{ name: 'ends', brief: [end] }])
  await ranAt(machine, show).catch(() => undefined) // its answer is no report
  const place = server.measured()[0]?.measured?.[0].place
  const shifting = `a\n\0${machine.git('rev-parse', 'HEAD').trim()}:.env`
  server.askToMeasure(
    'review_show',
    [{ name: 'states', brief: [{ place, paths: ['.env', shifting, 'README.md'] }] }],
    [{ name: 'contents', brief: { places: [place], ids: [secret, readable], most: 1_000_000 } }],
  )
  await ranAt(machine, show).catch(() => undefined) // its answer is no report
  const [states, contents] = server.measured()
  expect(Object.fromEntries(states?.measured?.[0].states)).toMatchObject({
    '.env': { id: null },
    'README.md': { id: readable },
  })
  const base64 = Buffer.from('Readable\n').toString('base64')
  expect(contents?.measured).toEqual([{ id: readable, size: 9, base64 }])

  const blamed = (path: string, oid: string) => ({
    name: 'blame',
    brief: { path, commit: null, oid, copies: false },
  })
  server.askToMeasure(
    'blame',
    [blamed('README.md', readable), blamed('.env', secret)],
    [{ name: 'contents', brief: { oids: [secret, readable], salt: 'salt' } }],
  )
  await ranAt(machine, ['blame', 'README.md', '--json']).catch(() => undefined) // its answer is no report
  const [, ofSecret, hashes] = server.measured()
  expect(ofSecret?.failure?.code).toBe('FORBIDDEN')
  expect(hashes?.measured).toEqual([[readable, [expect.any(String)]]])
})

test('makes the names of snapshots itself, so that a server replaces none', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const { folder } = machine
  const taking = { name: 'ends', brief: [{ id: 'a-1', top: folder, prefix: '', engine: 'git' }] }
  server.askToMeasure('review_show', [taking, taking])
  await ranAt(machine, ['review', 'show', 't-1', '--json']).catch(() => undefined) // its answer is no report
  const places = server.measured().map(({ measured }) => measured?.[0].place.directory)
  expect(places).toEqual([expect.any(String), expect.any(String)])
  expect(new Set(places).size).toBe(2)
})
