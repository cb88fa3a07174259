import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type HttpProject, openHttpProject } from './http-project.ts'
import { type RawAnswer, requestText, sendRaw } from './raw.ts'

const page = '<!doctype html><title>Dashboard</title>'
const script = 'console.log("dashboard")'.repeat(20)

async function withDashboard(): Promise<HttpProject> {
  const project = await openHttpProject()
  project.write('secret.txt', 'a secret beside the dashboard')
  project.write('web/assets/index-a1B2c3D4.js', script)
  project.write('web/icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  project.write('web/index.html', page)
  return project
}

function getRaw({ port }: HttpProject, path: string, headers = {}): Promise<RawAnswer> {
  return sendRaw(port, requestText(`GET ${path}`, { Host: `127.0.0.1:${port}`, ...headers }))
}

test('without a dashboard, a plain page says that there is none', async () => {
  const { address } = await openHttpProject()
  const response = await fetch(`${address}/`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(await response.text()).toContain('Its dashboard was not built')
})

test('each page of the dashboard is its one page, which is asked for anew', async () => {
  const { address, personToken } = await withDashboard()
  for (const path of ['/', '/missions/m-1', '/p/shop', '/p/shop/', '/p/shop/missions/m-1.2', '/index.html']) {
    const response = await fetch(`${address}${path}`)
    expect([path, response.status, await response.text()]).toEqual([path, 200, page])
    expect(response.headers.get('cache-control')).toBe('no-cache')
  }
  // The files are the same for every project: who is not known yet learns nothing of which there are.
  expect((await fetch(`${address}/p/other/missions`)).status).toBe(200)
  const headers = { Authorization: `Bearer ${personToken}` }
  expect((await fetch(`${address}/p/other/missions`, { headers })).status).toBe(404)
})

test('lets browsers cache a file with its hash in the name forever', async () => {
  const { address } = await withDashboard()
  const response = await fetch(`${address}/assets/index-a1B2c3D4.js`)
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(await response.text()).toBe(script)
  expect((await fetch(`${address}/icon.svg`)).headers.get('content-type')).toBe('image/svg+xml')
  expect((await fetch(`${address}/p/shop/icon.svg`)).headers.get('content-type')).toBe('image/svg+xml')
  expect((await fetch(`${address}/assets/gone-a1B2c3D4.js`)).status).toBe(404)
})

test('answers 304 for a file that the browser has', async () => {
  const { address } = await withDashboard()
  const first = await fetch(`${address}/`)
  const etag = first.headers.get('etag') ?? ''
  const again = await fetch(`${address}/`, { headers: { 'If-None-Match': `"other", W/${etag}` } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const other = await fetch(`${address}/`, { headers: { 'If-None-Match': '"other"' } })
  expect(other.status).toBe(200)
})

test('compressed files are sent to whoever takes them', async () => {
  const project = await withDashboard()
  project.write('web/assets/index-a1B2c3D4.js.gz', gzipSync(script))
  const encodingFor = async (accepted: string) => {
    const { headers } = await getRaw(project, '/assets/index-a1B2c3D4.js', { 'Accept-Encoding': accepted })
    expect(headers.toLowerCase()).toContain('vary: accept-encoding')
    return /content-encoding: (\w+)/i.exec(headers)?.[1] ?? null
  }
  expect(await encodingFor('gzip;q=1.0, br')).toBe('gzip')
  expect(await encodingFor('gzip;q=0, br')).toBeNull()
  expect(await encodingFor('identity')).toBeNull()
  const response = await fetch(`${project.address}/assets/index-a1B2c3D4.js`)
  expect(await response.text()).toBe(script)
})

test('decompresses a file for a client that accepts no compression', async () => {
  const project = await withDashboard()
  project.write('web/assets/view-a1B2c3D4.js.gz', gzipSync(script))
  const address = `${project.address}/assets/view-a1B2c3D4.js`
  const packed = await fetch(address)
  expect(packed.headers.get('content-type')).toContain('text/javascript')
  expect([packed.headers.get('content-encoding'), await packed.text()]).toEqual(['gzip', script])
  const plain = await getRaw(project, '/assets/view-a1B2c3D4.js', { 'Accept-Encoding': 'identity' })
  expect(plain.headers.toLowerCase()).not.toContain('content-encoding')
  expect(plain.body).toBe(script)
  expect(plain.headers).toContain(packed.headers.get('etag'))
})

test.each([
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/assets/../../secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
  '/assets/....//....//secret.txt',
  '/p/shop/..%2f..%2fsecret.txt',
  '/p/..%2fsecret.txt',
  '//secret.txt',
  '/secret.txt%00.html',
])('no path leads out of the folder: %s', async (path) => {
  const project = await withDashboard()
  expect(existsSync(join(project.home, 'secret.txt'))).toBe(true)
  const { text, status } = await getRaw(project, path)
  expect(status).toBeGreaterThanOrEqual(200)
  expect(text).not.toContain('a secret')
})

test('a dashboard that is built while the server runs is served', async () => {
  const project = await openHttpProject()
  await fetch(`${project.address}/`)
  project.write('web/index.html', page)
  expect(await (await fetch(`${project.address}/`)).text()).toBe(page)
})

test('refuses writes to the paths of the dashboard', async () => {
  const { address } = await withDashboard()
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await fetch(`${address}/index.html`, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
})
