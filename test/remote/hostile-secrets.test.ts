import { expect, test } from 'vitest'
import { ranAt } from './edges.ts'
import { hostileServer, machineOf } from './hostile-server.ts'

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
  server.askFor([{ call: 'witness.snapshot', args: [{ folder, name: 'a-1' }] }])
  await ranAt(machine, ['check', '--json']).catch(() => undefined) // its answer is no report
  const place = server.said()[0]?.answer?.['ref']
  const shifting = `a\n\0${machine.git('rev-parse', 'HEAD').trim()}:.env`
  server.askFor(
    [{ call: 'witness.states', args: [place, ['.env', shifting, 'README.md']] }],
    [{ call: 'witness.contents', args: [[place], [secret, readable], 1_000_000] }],
  )
  await ranAt(machine, ['check', '--json']).catch(() => undefined) // its answer is no report
  const [states, contents] = server.said()
  expect(Object.fromEntries(states?.answer as never)).toMatchObject({
    '.env': { id: null },
    'README.md': { id: readable },
  })
  expect(contents?.answer).toEqual([[readable, 9, Buffer.from('Readable\n').toString('base64')]])

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
  const taking = { call: 'witness.snapshot', args: [{ folder, name: 'a-1' }] }
  server.askFor([taking, taking])
  await ranAt(machine, ['check', '--json']).catch(() => undefined) // its answer is no report
  const places = server.said().map(({ answer }) => answer?.['ref'].directory)
  expect(places).toEqual([expect.any(String), expect.any(String)])
  expect(new Set(places).size).toBe(2)
})
