import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandRunner } from '../../../src/gate/commands/command-runner.ts'
import type { CommandEnd } from '../../../src/gate/ports/command-runner.ts'
import { amount, soakTest } from '../../support/amount.ts'
import { defunctDescendants } from '../../support/defunct.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

const minute = 60_000

function run(command: string, timeout = minute, graceMs?: number): Promise<CommandEnd> {
  return commandRunner(process.env, graceMs).start({ run: command, folder: temporaryFolder(), timeout })
}

/** Waits for what another process does. The test's own time limit ends it. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await wait(10)
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a command', () => {
  test('passes with exit code 0', async () => {
    expect(await run('echo fine')).toEqual({ status: 'passed', exitCode: 0, output: 'fine\n' })
  })

  test('fails with any other, and with what it said on both outputs, in order', async () => {
    const end = await run('for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 3')
    expect(end).toEqual({
      status: 'failed',
      exitCode: 3,
      output: 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n',
    })
  })

  test('stores output without the secrets that their form reveals', async () => {
    const token = `wm1_0123456789ab_${'s'.repeat(43)}`
    const secrets = [`ghp_${'a'.repeat(36)}`, token, 'hunter2', 'https://hooks.slack.com/services/T0/B0/x']
    const printed = `${secrets[0]}\ninvite-${token}\nDB_PASSWORD=hunter2\nhttps://ada:hunter2@db.test/x\n${secrets[3]}\n`
    const { output } = await run(
      `printf '%s' '${printed}'; echo src/key: value; seq 30000; echo '${printed}'`,
    )
    for (const secret of secrets) expect(output).not.toContain(secret)
    expect(output).toContain('DB_PASSWORD=[redacted value, 7 characters]')
    expect(output).toContain('29999')
    expect((await run('echo "key: src/a/Long_Path-Name0123456789.test.ts"')).output).toBe(
      'key: src/a/Long_Path-Name0123456789.test.ts\n',
    )
  })

  test('fails if the shell does not know the command', async () => {
    const end = await run('no-such-program-anywhere')
    expect(end).toMatchObject({ status: 'failed', exitCode: 127 })
    expect(end.output).toContain('no-such-program-anywhere')
  })

  test('reports a signal instead of an exit code', async () => {
    expect(await run('printf partial; kill -KILL $$')).toEqual({
      status: 'failed',
      exitCode: null,
      output: 'partial\nThe command was ended by signal SIGKILL.',
    })
  })

  test('in a folder that is not there fails, with the reason', async () => {
    const end = await commandRunner().start({ run: 'true', folder: '/nowhere/at/all', timeout: minute })
    expect(end).toEqual({
      status: 'failed',
      exitCode: null,
      output: 'The command could not be started in /nowhere/at/all: there is no such folder.',
    })
  })

  test('fails if the system cannot start the command', async () => {
    expect(await run('echo \0')).toMatchObject({ status: 'failed', exitCode: null })
    const long = await run(`echo ${'x'.repeat(4_000_000)}`)
    expect(long).toMatchObject({ status: 'failed', exitCode: null })
    expect(long.output).toContain('could not be started')
  })

  test('has no input, no terminal, its folder, and the variables of a run that nobody watches', async () => {
    const folder = temporaryFolder()
    const inherited = {
      ...process.env,
      OWN: 'kept',
      FORCE_COLOR: '1',
      GIT_DIR: '/x',
      WAYMARK_ROLE: 'reviewer',
    }
    const end = await commandRunner(inherited).start({
      run: 'cat; test -t 1 || echo no terminal; pwd; echo "$CI $NO_COLOR $WAYMARK_RUNNER $OWN $FORCE_COLOR$GIT_DIR$WAYMARK_ROLE."',
      folder,
      timeout: minute,
    })
    expect(end.output).toBe(`no terminal\n${folder}\ntrue 1 1 kept .\n`)
  })
})

describe('of the output', () => {
  test('the last 20,000 characters are kept', async () => {
    const { output } = await run("seq 0 29999 | sed 's/^/line /'")
    expect(output).toHaveLength(20_000)
    expect(output.endsWith('line 29998\nline 29999\n')).toBe(true)
  })

  test('no character is cut in two, and control characters stay', async () => {
    const folder = new WorkFolder(temporaryFolder())
    folder.put('text', `${'é😀'.repeat(40_000)}\u001b[31mred\u0007`)
    const { output } = await run(`cat '${folder.path('text')}'`)
    expect(output.length).toBeGreaterThan(19_990)
    expect(output).not.toMatch(/\uFFFD/)
    expect(output.isWellFormed()).toBe(true)
    expect(output.endsWith('é😀\u001b[31mred\u0007')).toBe(true)
  })

  test('a character in two pieces is one', async () => {
    expect(await run("printf '\\303'; sleep 0.1; printf '\\251'")).toMatchObject({ output: 'é' })
  })

  test('our own last line has room', async () => {
    const { output } = await run('head -c 50000 /dev/zero | tr "\\0" x; kill -TERM $$')
    expect(output).toHaveLength(20_000)
    expect(output.endsWith('x\nThe command was ended by signal SIGTERM.')).toBe(true)
  })
})

describe('past its time a command', () => {
  /** Runs it again where the time was over before it had begun: on a busy machine a shell may take that long. */
  async function begun(
    folder: WorkFolder,
    command: string,
    timeout: number,
    graceMs?: number,
  ): Promise<CommandEnd> {
    for (;;) {
      const end = await run(command, timeout, graceMs)
      if (existsSync(folder.path('pid'))) return end
      expect(end.status).toBe('timed_out')
    }
  }

  test('is asked to end, and its children too', async () => {
    const folder = new WorkFolder(temporaryFolder())
    const write = `echo $$ > "${folder.path('new')}"; mv "${folder.path('new')}" "${folder.path('pid')}"`
    const end = await begun(
      folder,
      `sh -c 'trap "echo tidied; exit 0" TERM; ${write}; while :; do sleep 0.05; done'; true`,
      300,
    )
    expect(end).toEqual({
      status: 'timed_out',
      exitCode: null,
      output: expect.stringMatching(/tidied\n(.*\n)*The command timed out after 0.3 s\.$/),
    })
    await until(() => !runs(Number(folder.read('pid'))))
  })

  test('is ended, though it will not', async () => {
    const folder = new WorkFolder(temporaryFolder())
    const write = `echo $$ > "${folder.path('new')}"; mv "${folder.path('new')}" "${folder.path('pid')}"`
    const end = await begun(folder, `trap "" TERM; ${write}; while :; do sleep 0.05; done`, 200, 200)
    expect(end.status).toBe('timed_out')
    await until(() => !runs(Number(folder.read('pid'))))
  })

  test('has a time longer than a timer can count', async () => {
    expect(await run('sleep 0.1', 1e12)).toMatchObject({ status: 'passed' })
  })
})

describe('a child in the background', () => {
  test('holds up no result, and ends with the command', async () => {
    const { output, status } = await run('sleep 1000 & echo $!')
    expect(status).toBe('passed')
    await until(() => !runs(Number(output)))
  })

  soakTest('does not wait for a child that left the group and keeps the output open', async () => {
    const left = `${temporaryFolder()}/left`
    const { output, status } = await run(
      `setsid sh -c 'touch "${left}"; exec sleep 1000' & echo $!; until [ -e "${left}" ]; do sleep 0.02; done`,
    )
    const pid = Number(output)
    onTestFinished(() => {
      if (runs(pid)) process.kill(pid)
    })
    expect(status).toBe('passed')
    expect(runs(pid)).toBe(true)
  })
})

test('stop ends every command, with its children', async () => {
  const runner = commandRunner()
  const folder = new WorkFolder(temporaryFolder())
  const ends = ['a', 'b'].map((name) =>
    runner.start({
      run: `sleep 1000 & echo $! > ${name}.new; mv ${name}.new ${name}; wait`,
      folder: folder.top,
      timeout: minute,
    }),
  )
  await until(() => existsSync(folder.path('a')) && existsSync(folder.path('b')))
  await runner.stop()
  for (const end of await Promise.all(ends)) {
    expect(end).toEqual({
      status: 'stopped',
      exitCode: null,
      output: 'The command was stopped before it ended.',
    })
  }
  for (const name of ['a', 'b']) await until(() => !runs(Number(folder.read(name))))
  await runner.stop()
})

soakTest(
  'many commands leave no defunct process, whether they end, are killed, or go to the background',
  async () => {
    const runner = commandRunner()
    const folder = temporaryFolder()
    const forms = [
      { run: 'exit 3', timeout: minute },
      { run: 'kill -KILL $$', timeout: minute },
      { run: 'exec sleep 1000', timeout: 50 },
      { run: 'sleep 1000 & sleep 1000 & exit 0', timeout: minute },
      { run: 'exec >&- 2>&-; sleep 0.1', timeout: minute },
    ]
    for (let round = 0; round < amount({ test: 1, soak: 5 }); round += 1) {
      const some = Array.from({ length: amount({ test: 2, soak: 8 }) }, () =>
        forms.map((form) => runner.start({ ...form, folder })),
      )
      await Promise.all(some.flat())
    }
    await expect.poll(defunctDescendants, { timeout: 20_000 }).toEqual([])
  },
)

test('several commands run at once', async () => {
  const runner = commandRunner()
  const folder = temporaryFolder()
  const meet = (own: string, other: string) =>
    runner.start({ run: `touch ${own}; until [ -e ${other} ]; do sleep 0.02; done`, folder, timeout: minute })
  const ends = await Promise.all([meet('a', 'b'), meet('b', 'a')])
  expect(ends.map(({ status }) => status)).toEqual(['passed', 'passed'])
})

describe('a runner', () => {
  test('is alive while its process is', async () => {
    const runner = commandRunner()
    expect(runner.name).toBe(`${hostname()}:${process.pid}`)
    expect(runner.isAlive(runner.name)).toBe(true)
    const { output } = await run('echo $$')
    expect(runner.isAlive(`${hostname()}:${output.trim()}`)).toBe(false)
  })

  test('on another machine counts as alive, and one that names no process does not', () => {
    const runner = commandRunner()
    expect(runner.isAlive('elsewhere.example:1')).toBe(null)
    for (const pid of ['0', '-1', '', 'x', '1.5', '99999999999']) {
      expect(runner.isAlive(`${hostname()}:${pid}`)).toBe(false)
    }
  })
})
