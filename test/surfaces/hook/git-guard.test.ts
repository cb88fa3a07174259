import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { decisionOf, type HookProject, openHookProject } from './hook-project.ts'

/** A project with a committed file, in which another agent works. */
function sharedTree(): HookProject & {
  readonly bash: (command: string, payload?: object) => ReturnType<HookProject['decide']>
  readonly guarded: () => readonly GuardedEntry[]
} {
  const project = openHookProject()
  const { folder, write, decide, git } = project
  write('src/a.ts', 'a\n')
  write('src/b.ts', 'b\n')
  git('add', '-A')
  git('commit', '-qm', 'first')
  return {
    ...project,
    bash: (command, payload) => {
      // A snapshot may take longer than the guard waits on a busy machine.
      for (let tries = 1; ; tries += 1) {
        const answer = decide('Bash', { command }, payload)
        const isLate = answer.decision === undefined || /longer than a second/.test(answer.reason)
        if (!isLate || tries === 10) return answer
      }
    },
    guarded: () => {
      const database = new Database(join(folder, '.waymark', 'waymark.db'), { readonly: true })
      const rows = database.prepare('select * from guarded_command order by seq desc').all()
      database.close()
      const all = (rows as readonly Record<string, string | null>[]).map(
        ({ commands, answer, files, snapshot, missing }) => ({
          commands: JSON.parse(commands ?? ''),
          answer: answer ?? '',
          files: JSON.parse(files ?? ''),
          snapshot: snapshot == null ? null : JSON.parse(snapshot),
          missing: missing ?? null,
        }),
      )
      return all.filter(({ snapshot }) => snapshot !== null)
    },
  }
}

interface GuardedEntry {
  readonly commands: readonly string[]
  readonly answer: string
  readonly files: readonly string[]
  readonly snapshot: { readonly directory: string } | null
  readonly missing: string | null
}

test.each([
  ['git reset --hard'],
  ['git checkout -- .'],
  ['git checkout .'],
  ['git checkout -f'],
  ['git restore src'],
  ['git stash'],
  ['git clean -fd && git reset --hard'],
  ['cd src && git checkout a.ts'],
  ['rm -rf src'],
  ['find src -delete'],
  ['g"i"t checkout -- .'],
  ['git add -A'],
  ['git commit -am "all"'],
  ['git rebase main'],
])('%s asks while another agent has uncommitted changes', (command) => {
  const { startTask, bash, write } = sharedTree()
  const { task_id: task } = startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  const { decision, reason } = bash(command)
  expect({ decision, names: ['src/a.ts', task].filter((text) => !reason.includes(text)) }).toEqual({
    decision: 'ask',
    names: [],
  })
})

test.each([
  ['git status'],
  ['git stash list'],
  ['git restore --staged src'],
  ['git clean -n'],
  ['git checkout -b mine'],
  ['git checkout -- src/b.ts'],
  ['git clean -fd'],
  ['git commit -m "mine"'],
  ['echo "git reset --hard"'],
])('%s is silent: it changes no file of the other agent', (command) => {
  const { startTask, bash, write } = sharedTree()
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  expect(bash(command).decision).toBe('none')
})

test('nothing of a repository elsewhere is kept, whatever folder a command names', () => {
  const { startTask, bash, guarded, folder } = sharedTree()
  startTask('Add the form', [])
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'))
  onTestFinished(() => rmSync(elsewhere, { recursive: true }))
  execFileSync('git', ['init', '-q', elsewhere])
  writeFileSync(join(elsewhere, 'private.txt'), 'theirs\n')
  expect(bash(`git -C "${elsewhere}" reset --hard`).decision).toBe('none')
  expect(bash(`cd "${elsewhere}" && git clean -fd`).decision).toBe('none')
  bash(`git -C "${folder}" reset --hard`)
  expect(guarded()).toHaveLength(1)
})

test('where the folder is in a variable, a snapshot is kept and nobody is asked', () => {
  const { startTask, bash, write, guarded } = sharedTree()
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  expect(bash('cd "$SOMEWHERE" && g""it reset --hard').decision).toBe('none')
  expect(guarded()).toMatchObject([{ commands: ['git reset --hard'], answer: 'none', files: [] }])
})

test('a command is silent for the only agent, and a snapshot is kept', () => {
  const { startTask, bash, write, guarded } = sharedTree()
  startTask('Add the form', [])
  expect(bash('git reset --hard').decision).toBe('none')
  write('src/c.ts', 'new\n')
  expect(bash('git stash -u').decision).toBe('ask')
  expect(bash('git stash list').decision).toBe('none')
  const [second, first] = guarded()
  expect(first).toMatchObject({ commands: ['git reset --hard'], answer: 'none', files: [], missing: null })
  expect(second).toMatchObject({ commands: ['git stash'], answer: 'ask', files: ['src/c.ts'] })
  expect(existsSync(join(second?.snapshot?.directory ?? '', 'snapshot.json'))).toBe(true)
})

test('an agent without others may do what it wants', () => {
  const { bash, write } = sharedTree()
  write('src/a.ts', 'mine\n')
  expect(bash('git reset --hard').decision).toBe('none')
})

test('where no person can be asked, the command is denied', () => {
  const { startTask, bash, write, hook } = sharedTree()
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  expect(bash('git reset --hard', { permission_mode: 'bypassPermissions' }).decision).toBe('deny')
  const payload = { tool_name: 'Bash', tool_input: { command: 'git reset --hard' } }
  expect(decisionOf(hook('pre-tool-use', payload, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' })).decision).toBe(
    'deny',
  )
  expect(bash('git reset --hard', { turn_id: 't' }).decision).toBe('deny')
  const cursor = hook('pre-tool-use', {
    hook_event_name: 'preToolUse',
    tool_name: 'Shell',
    tool_input: { command: 'git reset --hard' },
  })
  expect(JSON.parse(cursor.out).permission).toBe('deny')
})

test('a person sets what the guard does', () => {
  const { startTask, bash, write, json, guarded } = sharedTree()
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  json('setting', 'set', 'guard_git', 'deny')
  expect(bash('git reset --hard').decision).toBe('deny')
  json('setting', 'set', 'guard_git', 'snapshot')
  expect(bash('git reset --hard').decision).toBe('none')
  expect(guarded()).toHaveLength(2)
  json('setting', 'set', 'guard_git', 'off')
  expect(bash('git reset --hard').decision).toBe('none')
  expect(guarded()).toHaveLength(2)
})

test('an alias of git is followed', () => {
  const { startTask, bash, write, git } = sharedTree()
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  git('config', 'alias.undo', 'reset --hard')
  expect(bash('git undo').decision).toBe('ask')
  expect(bash('git other').decision).toBe('none')
})

test('an answer names only the files of the caller', () => {
  const { startTask, bash, write, hook, folder, git } = sharedTree()
  write('src/b.ts', 'mine\n')
  startTask('Add the form', [])
  write('src/a.ts', 'theirs\n')
  const { reason } = bash('git add .')
  expect(reason).toContain('1 of these 2 files are of')
  expect(reason).toContain('git add -- src/b.ts')
  git('add', 'src/a.ts')
  expect(bash('git commit -m mine').decision).toBe('ask')
  const outside = hook('pre-tool-use', {
    cwd: folder,
    tool_name: 'Bash',
    tool_input: { command: 'git -C /nowhere reset --hard' },
  })
  expect(outside.out).toBe('')
})
