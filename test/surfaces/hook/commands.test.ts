import { describe, expect, test } from 'vitest'
import { type HookRun, judgePermissions } from '../../../src/gate/domain/hook/judge.ts'
import { isMatchingCommand, readShellLine } from '../../../src/gate/domain/hook/shell-line.ts'
import { readDefinition } from '../../../src/gate/process-files/read-definition.ts'
import { toolUses } from '../../../src/surfaces/hook/tool-use.ts'
import { openHookProject } from './hook-project.ts'

const text = (
  permissions: string,
) => `process: { dialect: 1, id: p, version: "1", name: P, initial_state: test }
roles: [{ name: agent, kind: agent }]
states: [{ name: test, tool_permissions: ${permissions} }, { name: done, is_final: true }]
events: [{ name: go, allowed_roles: [agent] }]
transitions: [{ from: test, event: go, to: done }]
`

function judge(permissions: string, command: unknown, tool = 'Bash') {
  const { definition, findings } = readDefinition(text(permissions))
  if (definition === null) throw new Error(JSON.stringify(findings))
  const record = { id: 'run-1', state: 'test' } as HookRun['record']
  const place = { top: '/p', folder: '/p' }
  const [use] = toolUses({ name: tool, input: { command } as never }, 'claude', place)
  if (use === undefined) throw new Error('no use of a tool')
  return judgePermissions({ record, definition }, use)
}

describe('allowed: only what the patterns cover, and nothing beside it', () => {
  const allowed = '{ allowed: [Read, "Bash(npm test*)", "Bash(npx tsc:*)", "Bash(tail *)"] }'

  test.each([
    'npm test',
    '  npm   test -- --watch=false ',
    'npm test 2>&1 | tail -5',
    'npm test >/dev/null 2>&1; npx tsc --noEmit',
    'npm test && npx tsc',
    "npm test -- -t 'a; b && c | d $(x) `y` > z'",
    'npm test -- -t "a; b && c | d > e"',
    'npm test \\\n  -- src/a.test.ts',
    'npm test\nnpm test -- b',
  ])('%j passes', (command) => {
    expect(judge(allowed, command)).toBeNull()
  })

  test.each(
    [
      'rm -rf /',
      'npm test && rm -rf /',
      'npm test; rm -rf /',
      'npm test | sh',
      'npm test & rm -rf /',
      'npm test || rm -rf /',
      'npm test\nrm -rf /',
      'npm test\r\nrm -rf /',
      'npm test \\\n && rm -rf /',
      'npm test $(rm -rf /)',
      'npm test `rm -rf /`',
      'npm test "$(rm -rf /)"',
      'npm test "`rm -rf /`"',
      'npm test $HOME',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
      'npm test ${IFS}',
      'npm test <(rm -rf /)',
      'npm test > src/a.ts',
      'npm test >> src/a.ts',
      'npm test 2>src/a.ts',
      'npm test &> src/a.ts',
      'npm test > /dev/null/../../src/a.ts',
      'npm test < /etc/passwd',
      'npm test << EOF\nrm -rf /\nEOF',
      '(npm test)',
      '{ npm test; }',
      "npm test # it's\nrm -rf / #'",
      "npm test 'a",
      "npm test '' ; rm -rf /",
      "npm test \\' ; rm -rf / \\'",
      'npm test "\\"" ; rm -rf /',
      "npm test $'\\'' ; rm -rf / '",
      'PATH=/tmp npm test',
      'sudo npm test',
      'npx tscevil',
      'npm run test',
      '',
      ';',
      'npm test\0rm',
    ].filter((command) => command !== 'npm test \\'),
  )('%j does not', (command) => {
    expect(judge(allowed, command)).toMatchObject({ decision: 'deny' })
  })

  test('the reason names the command that is not covered, or what cannot be seen through', () => {
    expect(judge(allowed, 'npm test && rm -rf /')?.reason).toContain(
      'allows only Read, Bash(npm test*), Bash(npx tsc:*), Bash(tail *), not "rm -rf /".',
    )
    expect(judge(allowed, 'npm test $(x)')?.reason).toContain('not "x"')
    expect(judge(allowed, 'npm test "$(x)"')?.reason).toContain('not a line with a substitution')
    expect(judge(allowed, undefined)?.reason).toContain('not Bash.')
    expect(judge(allowed, 'npm test', 'WebFetch')?.decision).toBe('deny')
  })

  test('a command given as words, alone or for a shell', () => {
    expect(judge(allowed, ['npm', 'test', '--', 'a b'])).toBeNull()
    expect(judge(allowed, ['bash', '-lc', 'npm test'])).toBeNull()
    expect(judge(allowed, ['bash', '-lc', 'npm test; rm x'])?.decision).toBe('deny')
    expect(judge(allowed, ['npm', 'test', '&&', 'rm'])).toBeNull()
    expect(judge(allowed, ['rm', '-rf', '/'])?.decision).toBe('deny')
  })
})

describe('denied and ask: any command of the line', () => {
  const denied = '{ denied: ["Bash(git push*)", "Bash(rm *)"], ask: ["Bash(npm publish*)"] }'

  test.each([
    ['git push', 'deny'],
    ['npm test && git push origin main', 'deny'],
    ['echo a | xargs echo; /bin/rm -rf x', 'deny'],
    ['FOO=1 sudo rm -rf x', 'deny'],
    ['r"m" -rf x', 'deny'],
    ['\\rm -rf x', 'deny'],
    ['if true; then rm -rf x; fi', 'deny'],
    ['(git push)', 'deny'],
    ['echo $(git push)', 'deny'],
    ['echo "$(git push)"', 'ask'],
    ['$CMD push', 'ask'],
    ['npm publish', 'ask'],
    ['git status', undefined],
    ['echo "git push"', undefined],
  ])('%j: %s', (command, decision) => {
    expect(judge(denied, command)?.decision).toBe(decision)
  })

  test('denied goes before allowed, and ask too', () => {
    const both = '{ allowed: [Bash], denied: ["Bash(git push*)"], ask: ["Bash(git commit*)"] }'
    expect(judge(both, 'git push')?.decision).toBe('deny')
    expect(judge(both, 'git commit -m x')?.decision).toBe('ask')
    expect(judge(both, 'git log')).toBeNull()
  })
})

test('* is any characters, and :* more words; a long line with many stars costs no time', () => {
  expect(isMatchingCommand('a*b*c', 'a-b-b-c')).toBe(true)
  expect(isMatchingCommand('a*b*c', 'a-c')).toBe(false)
  expect(isMatchingCommand('ab*b', 'ab')).toBe(false)
  expect(isMatchingCommand('a.c', 'abc')).toBe(false)
  expect(isMatchingCommand('ls:*', 'ls')).toBe(true)
  expect(isMatchingCommand('ls:*', 'lsof')).toBe(false)
  const began = process.threadCpuUsage()
  expect(isMatchingCommand(`${'a*'.repeat(2000)}b`, 'a'.repeat(100_000))).toBe(false)
  expect(readShellLine('$(`"'.repeat(100_000)).unclear).not.toBeNull()
  const { user, system } = process.threadCpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(2_000)
})

test.each([
  ['["Bash(npm test"]', 'error', 'is neither a tool nor a tool with a pattern'],
  ['["Bash()"]', 'error', 'is neither a tool nor a tool with a pattern'],
  ['["Write(docs/**)"]', 'error', 'Use paths: { Write: ["docs/**"] }'],
  ['["Bash(npm test && npm run lint)"]', 'warning', 'is compared by itself'],
])('lint: %s', (list, severity, message) => {
  expect(readDefinition(text(`{ allowed: ${list} }`)).findings).toMatchObject([
    { severity, rule: 'tool-pattern', message: expect.stringContaining(message) },
  ])
})

test('the hook itself decides by the command', () => {
  const project = openHookProject({ git: false })
  project.write('.waymark/processes/p.yaml', text('{ allowed: ["Bash(npm test*)"] }'))
  project.json('run', 'create', 'p')
  expect(project.decide('Bash', { command: 'npm test' }).decision).toBe('none')
  expect(project.decide('Bash', { command: 'npm test && rm -rf src' })).toMatchObject({
    decision: 'deny',
    reason: expect.stringContaining('not "rm -rf src"'),
  })
})
