import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { amount } from '../../../support/amount.ts'
import { bin } from '../../../support/program.ts'
import { type Answer, openProject } from '../../../support/project.ts'
import { removeFolder } from '../../../support/removed-folder.ts'
import { serverEnvironment } from '../../../support/stdio-project.ts'
import { serveProject } from './serving.ts'

const launcher = join(
  import.meta.dirname,
  '../../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
)

type Inspect = (method: string, ...words: readonly string[]) => Promise<Answer>

/** The command line of the MCP Inspector, with a home of its own. */
function inspector(...server: readonly string[]): Inspect {
  const home = mkdtempSync(join(tmpdir(), 'waymark-inspector-'))
  onTestFinished(() => removeFolder(home))
  const env = { ...serverEnvironment(home), HOME: home, USERPROFILE: home }
  return async (method, ...words) => {
    const all = [launcher, '--cli', ...server, '--method', method, ...words]
    const { stdout } = await promisify(execFile)(process.execPath, all, { env, cwd: home })
    return JSON.parse(stdout)
  }
}

/** What the Inspector is used for: look at what there is, call it, read it. Each look starts three processes. */
async function lookAround(inspect: Inspect, isShort: boolean): Promise<void> {
  const { tools } = await inspect('tools/list')
  expect(tools.map(({ name }: Answer) => name)).toContain('start_mission')
  const words = ['--tool-name', 'start_mission', '--tool-arg', 'name=Sign in', 'objective=People sign in']
  const { structuredContent, isError } = await inspect('tools/call', ...words)
  expect(isError).toBe(false)
  const uri = `waymark://missions/${structuredContent.mission_id}`
  if (isShort) return
  const { resources } = await inspect('resources/list')
  expect(resources).toMatchObject([{ uri, name: 'Sign in' }])
  const { contents } = await inspect('resources/read', '--uri', uri)
  expect(JSON.parse(contents[0].text)).toMatchObject({ id: structuredContent.mission_id, name: 'Sign in' })
  const { prompts } = await inspect('prompts/list')
  expect(prompts.map(({ name }: Answer) => name)).toEqual([
    'plan_mission',
    'work_next_task',
    'review_blockers',
  ])
}

// Ten processes or more, one after the other.
const patient = { timeout: 240_000 }

test('the MCP Inspector finds its way over stdio', patient, async () => {
  const { folder } = await openProject()
  await lookAround(
    inspector(process.execPath, bin, 'mcp', '--project', folder),
    amount({ test: 1, soak: 0 }) === 1,
  )
})

test('the MCP Inspector finds its way over HTTP', patient, async () => {
  const { url } = await serveProject()
  const header = ['--header', 'Authorization: Bearer ada']
  await lookAround(inspector('--transport', 'http', '--server-url', url, ...header), false)
})
