import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { processorTime } from '../../../test/support/processor-time.ts'
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

test('composer covers every script, and a broken manifest is covered as a file', async () => {
  const folder = folderWith({
    'composer.json': { scripts: { test: ['phpunit', '@lint'], lint: 'phpcs' } },
    'package.json': '{"scripts": ',
  })
  expect((await runnerScripts(folder, 'composer test')).scripts).toEqual([
    { path: 'composer.json#lint', text: 'phpcs' },
    { path: 'composer.json#test', text: '["phpunit","@lint"]' },
  ])
  expect(await runnerScripts(folder, 'npm test')).toEqual({ scripts: [], files: ['package.json'] })
})

test('scripts that call each other end', async () => {
  const folder = folderWith({ 'package.json': { scripts: { a: 'npm run b', b: 'npm run a' } } })
  expect((await runnerScripts(folder, 'npm run a')).scripts).toHaveLength(2)
})

test('a long command line is read in a moment', async () => {
  const folder = folderWith({ 'package.json': { scripts } })
  const line = `npm ${'"test" '.repeat(50_000)}`
  expect(await processorTime(() => runnerScripts(folder, line))).toBeLessThan(2_000)
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

/** Whether the approval of a line covers each of two versions of a file. */
async function asksAgain(
  run: string,
  files: Readonly<Record<string, string | object>>,
  changed: Readonly<Record<string, string | object>>,
): Promise<boolean> {
  const folder = folderWith(files)
  const approvals = commandApprovals(join(folder, 'state'))
  const command = { run, folder, pinned: [] }
  const before = await approvals.hashOf(command)
  for (const [path, content] of Object.entries(changed))
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  return (await approvals.hashOf(command)) !== before
}

const manifest = (own: object) => ({ 'package.json': { scripts: own } })

describe('a command that runs something else after its approval is asked about again', () => {
  test.each([
    [
      'make test',
      { Makefile: 'test:\n\t@npm run unit\n', ...manifest({ unit: 'vitest' }) },
      manifest({ unit: 'true' }),
    ],
    [
      'make test',
      { Makefile: 'include build/rules.mk\n', 'build/rules.mk': 'test:\n\tvitest\n' },
      { 'build/rules.mk': 'test:\n' },
    ],
    [
      'make test',
      { Makefile: '-include $(DIR)/rules.mk\n', 'build/rules.mk': 'test:\n\tvitest\n' },
      { 'build/rules.mk': 'test:\n' },
    ],
    [
      'make test',
      { Makefile: 'test:\n\t$(MAKE) -C sub all\n', 'sub/Makefile': 'all:\n\tvitest\n' },
      { 'sub/Makefile': 'all:\n' },
    ],
    ['make -fa.mk -f b.mk', { 'a.mk': 'x:\n', 'b.mk': 'y:\n\tvitest\n' }, { 'b.mk': 'y:\n' }],
    [
      'just test',
      { justfile: "import 'ci.just'\n", 'ci.just': 'test:\n  vitest\n' },
      { 'ci.just': 'test:\n' },
    ],
    ['task test', { 'Taskfile.yml': 'includes:\n  web: ./web.yml\n', 'web.yml': 'x' }, { 'web.yml': 'y' }],
    ['deno task test', manifest({ test: 'vitest' }), manifest({ test: 'true' })],
    ['node --run test', manifest({ test: 'vitest' }), manifest({ test: 'true' })],
    ['yarn run-s "test:*"', manifest({ 'test:a': 'vitest' }), manifest({ 'test:a': 'true' })],
    ['pnpm run "/^test:.*/"', manifest({ 'test:a': 'vitest' }), manifest({ 'test:a': 'true' })],
    ['T=test; npm run $T', manifest({ test: 'vitest' }), manifest({ test: 'true' })],
    [
      'npm test',
      manifest({ test: '$npm_execpath run unit', unit: 'vitest' }),
      manifest({ test: '$npm_execpath run unit', unit: 'true' }),
    ],
    [
      'npm test',
      manifest({ test: 'n\\pm run unit', unit: 'vitest' }),
      manifest({ test: 'n\\pm run unit', unit: 'true' }),
    ],
    [
      '(cd web && npm ci); npm test',
      { ...manifest({ test: 'vitest' }), 'web/package.json': '{}' },
      manifest({ test: 'true' }),
    ],
    [
      'cd web && cd .. && npm test',
      { ...manifest({ test: 'vitest' }), 'web/package.json': '{}' },
      manifest({ test: 'true' }),
    ],
    ['cd src && npm test', { ...manifest({ test: 'vitest' }), 'src/a.ts': '' }, manifest({ test: 'true' })],
    [
      'npm test',
      { ...manifest({ test: 'vitest' }), '.npmrc': 'save-exact=true\n' },
      { '.npmrc': 'script-shell=/bin/true\n' },
    ],
    [
      'npm test',
      { ...manifest({ test: 'vitest' }), '.npmrc': '' },
      { '.npmrc': 'script-shell;token=/bin/true\n' },
    ],
    ['yarn test', manifest({ test: 'vitest' }), { '.yarnrc.yml': 'yarnPath: ./evil.cjs\n' }],
    [
      'yarn test',
      { ...manifest({ test: 'vitest' }), '.yarnrc.yml': 'yarnPath: ./y.cjs\n', 'y.cjs': '1' },
      { 'y.cjs': '2' },
    ],
    [
      'pnpm -r test',
      { ...manifest({}), 'pnpm-workspace.yaml': "packages:\n  - 'libs/*'\n", 'libs/a/package.json': '{}' },
      { 'libs/a/package.json': '{"scripts":{"test":"true"}}' },
    ],
    [
      'turbo run test',
      { 'package.json': { workspaces: ['libs/*'] }, 'libs/a/package.json': '{}' },
      { 'libs/a/package.json': '{"scripts":{"test":"true"}}' },
    ],
    [
      'npm test',
      { 'package.json': { ...manifest({ test: 'vitest' })['package.json'], x: 'x'.repeat(2_100_000) } },
      { 'package.json': { ...manifest({ test: 'true' })['package.json'], x: 'x'.repeat(2_100_000) } },
    ],
    ['npm test', manifest(chain('vitest')), manifest(chain('true'))],
  ])('%s: %#', async (run, files, changed) => {
    expect(await asksAgain(run, files, changed)).toBe(true)
  })

  test('where it enters a folder by its whole path', async () => {
    const folder = folderWith({ 'web/package.json': { scripts: { test: 'vitest' } } })
    const found = await runnerScripts(folder, `cd "${folder}/web" && npm test`)
    expect(found.scripts.map(({ path }) => path)).toEqual(['web/package.json#test'])
  })

  test.each([
    'cd "my web" && npm test',
    "cd 'my web' && npm test",
    'cd my\\ web && npm test',
    'cd "my"" web" && npm test',
    'cd my" "web && npm test',
    'npm --prefix "my web" test',
    "npm '--prefix=my web' test",
    'npm -C my\\ web test',
  ])('where it names a folder with a space: %s', async (command) => {
    const folder = folderWith({ 'my web/package.json': { scripts: { test: 'vitest' } } })
    const found = await runnerScripts(folder, command)
    expect(found.scripts.map(({ path }) => path)).toContain('my web/package.json#test')
  })

  test('but not because of a login of a package manager', async () => {
    const files = {
      ...manifest({ test: 'vitest' }),
      '.npmrc': '//r.example/:_authToken=old\n_auth=old\nregistry=https://a:old@r\n',
    }
    const changed = { '.npmrc': '//r.example/:_authToken=new\n_auth=new\nregistry=https://a:new@r\n' }
    expect(await asksAgain('npm test', files, changed)).toBe(false)
    const found = await runnerScripts(folderWith(files), 'npm test')
    expect(JSON.stringify(found)).not.toMatch(/old/)
  })
})

/** More scripts than are followed, of which the last one decides. */
function chain(last: string): Readonly<Record<string, string>> {
  const names = Array.from({ length: 400 }, (_, at) => `s${at}`)
  const calls = names.map((name) => `npm run ${name}`).join(' && ')
  return { test: calls, ...Object.fromEntries(names.map((name) => [name, 'tsc'])), s399: last }
}

test.each([
  ['make', { Makefile: `${'test: ; cd a; cd b; make -C c $(MAKE) npm run x\n'.repeat(40_000)}` }],
  ['make', { Makefile: `include ${' '.repeat(1_900_000)}x` }],
  ['npm test', { 'package.json': { scripts: { test: 'npm test && '.repeat(100_000) } } }],
  ['npm test', { 'package.json': '['.repeat(1_900_000) }],
  ['npm test -ws', { 'package.json': { workspaces: ['[[', '../..', '{1..9}', 'a\\b', 7, null] } }],
  [
    'make',
    Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [
        at === 0 ? 'Makefile' : `m${at}.mk`,
        `include m${at + 1}.mk m${at}.mk\nx:\n\tmake -f m${at}.mk\n`,
      ]),
    ),
  ],
])('a hostile repository is read in a moment: %s %#', async (run, files) => {
  const folder = folderWith(files)
  const approvals = commandApprovals(join(folder, 'state'))
  expect(await processorTime(() => approvals.hashOf({ run, folder, pinned: [] }))).toBeLessThan(4_000)
})
