import { expect, test } from 'vitest'
import { serveProject } from '../http/serving.ts'
import { conformanceServer } from './fixtures/conformance-server.ts'
import { notPassed, type Revision, runSuite, scoredScenarios } from './suite.ts'

const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28']

test.each(revisions)(
  '%s: the server passes every scenario that the revision requires',
  {
    timeout: 300_000,
  },
  async (revision) => {
    const { url } = await serveProject({ serverOf: conformanceServer })
    const scored = scoredScenarios(revision)
    expect(scored.length).toBeGreaterThanOrEqual(30)
    expect(notPassed(await runSuite(url, revision), scored)).toEqual([])
  },
)

// Those that call nothing by a name of the suite's own.
const general: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'server-session-lifecycle',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'prompts-list',
    'sep-2164-resource-not-found',
    'caching',
    'input-required-result-unsupported-methods',
    'dns-rebinding-protection',
    'http-header-validation',
  ],
}

test.each(revisions)(
  '%s: so does the server as it is shipped, where nothing else is called',
  { timeout: 300_000 },
  async (revision) => {
    const { url, project } = await serveProject()
    await project.call('start_mission', { name: 'Sign in', objective: 'People can sign in' })
    expect(notPassed(await runSuite(url, revision), general[revision])).toEqual([])
  },
)
