import fs from 'node:fs'
import { Agent, get } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { callersFromCommands } from '../../../src/gate/commands/command-connections.ts'
import { openHttpProject } from '../../surfaces/http/http-project.ts'

/** Counts what this thread reads of the system's processes synchronously. */
function countedReads(): { readonly paths: string[] } {
  const paths: string[] = []
  const { readFileSync, readdirSync, readlinkSync } = fs
  const before = { readFileSync, readdirSync, readlinkSync }
  for (const name of ['readFileSync', 'readdirSync', 'readlinkSync'] as const) {
    const own = before[name] as (...words: unknown[]) => unknown
    Object.assign(fs, {
      [name]: (...words: unknown[]) => {
        if (/^\/proc(?:\/(?:\d+|net)\b|$)/.test(String(words[0]))) paths.push(String(words[0]))
        return own(...words)
      },
    })
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(fs, before)
    syncBuiltinESMExports()
  })
  return { paths }
}

test('new connections make the server read nothing of the table of processes on its own thread', async () => {
  const project = await openHttpProject()
  const { paths } = countedReads()
  fs.readFileSync('/proc/net/tcp')
  expect(paths).toEqual(['/proc/net/tcp'])
  const status = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${project.personToken}` }
      get(`${project.address}/api/session`, { agent: new Agent(), headers }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      }).on('error', reject)
    })
  expect(await Promise.all(Array.from({ length: 32 }, status))).toEqual(Array.from({ length: 32 }, () => 200))
  expect(paths).toEqual(['/proc/net/tcp'])
})

test('connections that arrive during a look share the next one, and each is looked at once', async () => {
  const looks: number[] = []
  let go = () => {}
  const isInside = callersFromCommands(async (connections) => {
    looks.push(connections.length)
    if (looks.length === 1) await new Promise<void>((resolve) => (go = resolve))
    return connections.map(({ remotePort = 0 }) => remotePort % 2 === 1)
  })
  const connections = Array.from({ length: 10 }, (_, remotePort) => ({ localPort: 1, remotePort }))
  const asked = connections.map((connection) => isInside(connection))
  go()
  expect(await Promise.all(asked)).toEqual(connections.map(({ remotePort }) => remotePort % 2 === 1))
  expect(looks).toEqual([1, 9])
  await Promise.all(connections.map((connection) => isInside(connection)))
  expect(looks).toEqual([1, 9])
})

test('a look that fails takes its callers for commands', async () => {
  const isInside = callersFromCommands(() => Promise.reject(new Error('gone')))
  expect(await isInside({ localPort: 1, remotePort: 2 })).toBe(true)
})
