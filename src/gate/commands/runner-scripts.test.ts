import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { commandApprovals } from './command-approvals.ts'
import { runnerScripts } from './runner-scripts.ts'

function folderWith(files: Readonly<Record<string, string | object>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-scripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

const scripts = {
  pretest: 'npm run build',
  test: 'vitest run && yarn lint',
  posttest: 'echo done',
  build: 'tsc',
  lint: 'eslint .',
  other: 'rm -rf /',
}

test.each([
  ['npm test'],
  ['npm run test -- --coverage'],
  ['CI=1 pnpm test'],
  ['cd . && bun run test'],
  ['yarn "test"'],
])('%s covers the script, those around it and those that these call', async (run) => {
  const found = await runnerScripts(folderWith({ 'package.json': { scripts } }), run)
  expect(found.scripts.map(({ path }) => path)).toEqual(
    ['build', 'lint', 'posttest', 'pretest', 'test'].map((name) => `package.json#${name}`),
  )
  expect(found.scripts.at(-1)?.text).toBe(scripts.test)
})

test.each([
  ['npm run lint', ['package.json#lint']],
  ['npm --prefix web test', ['web/package.json#test']],
  ['cd ./web/ && npm test', ['web/package.json#test']],
  [
    'npx run-s build lint',
    Object.keys(scripts)
      .map((name) => `package.json#${name}`)
      .sort(),
  ],
  ['vitest run test', []],
  ['npm run missing', []],
])('%s leads to %j', async (run, paths) => {
  const folder = folderWith({
    'package.json': { scripts },
    'web/package.json': { scripts: { test: 'vite', build: 'x' } },
  })
  expect((await runnerScripts(folder, run)).scripts.map(({ path }) => path)).toEqual(paths)
})

test('a runner of several scripts, and one of workspaces, cover all of them', async () => {
  const folder = folderWith({
    'package.json': { scripts: { ...scripts, all: 'run-s "lint:*"' }, workspaces: ['packages/*'] },
  })
  const names = Object.keys({ ...scripts, all: '' }).length
  expect((await runnerScripts(folder, 'npm run all')).scripts).toHaveLength(names)
  const found = await runnerScripts(folder, 'npm test --workspaces')
  expect(found.scripts).toHaveLength(names)
  expect(found.files).toContain('packages/*/package.json')
})

test.each([
  ['make check', ['GNUmakefile', 'Makefile', 'makefile']],
  ['make -C sub -f build.mk', ['sub/build.mk']],
  ['make -f ../x.mk', []],
  ['just test', ['.justfile', 'Justfile', 'justfile']],
  ['deno task test', ['deno.json', 'deno.jsonc']],
])('%s covers the files %j', async (run, files) => {
  expect((await runnerScripts(folderWith({}), run)).files).toEqual(files)
})

test('composer covers every script, and a broken manifest none', async () => {
  const folder = folderWith({
    'composer.json': { scripts: { test: ['phpunit', '@lint'], lint: 'phpcs' } },
    'package.json': '{"scripts": ',
  })
  expect((await runnerScripts(folder, 'composer test')).scripts).toEqual([
    { path: 'composer.json#lint', text: 'phpcs' },
    { path: 'composer.json#test', text: '["phpunit","@lint"]' },
  ])
  expect(await runnerScripts(folder, 'npm test')).toEqual({ scripts: [], files: [] })
})

test('scripts that call each other end', async () => {
  const folder = folderWith({ 'package.json': { scripts: { a: 'npm run b', b: 'npm run a' } } })
  expect((await runnerScripts(folder, 'npm run a')).scripts).toHaveLength(2)
})

test('a long command line is read in a moment', async () => {
  const started = performance.now()
  await runnerScripts(folderWith({ 'package.json': { scripts } }), `npm ${'"test" '.repeat(50_000)}`)
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('an approval covers the scripts: their change asks again, another change does not', async () => {
  const folder = folderWith({ 'package.json': { scripts }, Makefile: 'check:\n\ttrue\n' })
  const approvals = commandApprovals(join(folder, 'state'))
  const [npm, make] = ['npm test', 'make check'].map((run) => ({ run, folder, pinned: [] }))
  if (!npm || !make) throw new Error('there are two')
  const [before, beforeMake] = [await approvals.hashOf(npm), await approvals.hashOf(make)]
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ version: '2', scripts: { ...scripts, other: 'x' } }),
  )
  expect(await approvals.hashOf(npm)).toBe(before)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { ...scripts, build: 'true' } }))
  expect(await approvals.hashOf(npm)).not.toBe(before)
  expect((await approvals.filesOf(npm)).find(({ path }) => path === 'package.json#build')).toMatchObject({
    text: 'true',
  })
  writeFileSync(join(folder, 'Makefile'), 'check:\n\tfalse\n')
  expect(await approvals.hashOf(make)).not.toBe(beforeMake)
})
