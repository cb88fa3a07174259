import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

export type Revision = '2025-11-25' | '2026-07-28'

/** What one scenario of the suite came to. */
export interface ScenarioResult {
  readonly passed: number
  /** What failed, a line each. */
  readonly failures: readonly string[]
}

/** By the scenario's name. */
export type Results = ReadonlyMap<string, ScenarioResult>

const root = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'node_modules',
  '@modelcontextprotocol',
  'conformance',
)
const required = z.object({ server: z.array(z.string()) })
const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }))

/** The scenarios that a server has to pass to conform to a revision of the specification. */
export function scoredScenarios(revision: Revision): readonly string[] {
  return required.parse(parse(readFileSync(join(root, 'requirements', `${revision}.yaml`), 'utf8'))).server
}

/**
 * Runs everything that a revision asks of a server, and answers it by scenario. The suite waits five seconds for an
 * answer: a machine that is too busy for that is asked again.
 */
export async function runSuite(url: string, revision: Revision): Promise<Results> {
  const results = await runOnce(url, revision)
  return isOutOfTime(results) ? runOnce(url, revision) : results
}

function isOutOfTime(results: Results): boolean {
  const failures = [...results.values()].flatMap((result) => result.failures)
  return failures.some((failure) => /aborted|timed out|did not complete within/.test(failure))
}

async function runOnce(url: string, revision: Revision): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-conformance-'))
  try {
    const words = ['server', '--url', url, '--requirements', revision, '--output-dir', folder]
    const said = await run([join(root, 'dist', 'index.js'), ...words])
    const results = new Map(
      readdirSync(folder).map((name) => [scenarioOf(name), resultIn(join(folder, name))]),
    )
    if (results.size === 0) throw new Error(`The conformance suite did not run: ${said}`)
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A line for each of the scenarios that was not passed. */
export function notPassed(results: Results, scenarios: readonly string[]): readonly string[] {
  return scenarios.flatMap((scenario) => {
    const result = results.get(scenario)
    if (!result) return [`${scenario}: did not run`]
    if (result.passed === 0) return [`${scenario}: nothing was checked`]
    return result.failures.map((failure) => `${scenario}: ${failure}`)
  })
}

/** `server-tools-list-2026-11-21T05-56-25-393Z` holds the results of `tools-list`. */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

function resultIn(folder: string): ScenarioResult {
  const found = checks.parse(JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8')))
  const bad = found.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  return {
    passed: found.filter(({ status }) => status === 'SUCCESS').length,
    failures: bad.map(({ id, status, errorMessage }) => `${id}: ${status}: ${errorMessage}`),
  }
}

async function run(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((gone) => child.on('close', gone))
  return Buffer.concat(chunks).toString('utf8').slice(-2000)
}
