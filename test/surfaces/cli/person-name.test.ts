import { existsSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configuredName } from '../../../src/app/settings/person-name.ts'
import { type CommandLineProject, openCommandLine } from './command-line.ts'

type Variables = NonNullable<Parameters<CommandLineProject['runWith']>[0]['environment']>

/** Who the log says started a mission. */
function authorOf(project: CommandLineProject, environment: Variables = {}): string {
  const ran = project.runWith({ environment }, 'mission', 'start', 'M', '--objective', 'x')
  expect(ran.code).toBe(0)
  return project.json('log', '--limit', '1').events[0].actor
}

test('a person is called what git calls them in the repository', () => {
  const project = openCommandLine()
  expect(authorOf(project)).toBe(userInfo().username)
  const global = join(project.home, 'global')
  writeFileSync(global, '[user]\n\temail = ada@example.com\n\tname = Ada Global\n')
  expect(authorOf(project, { GIT_CONFIG_GLOBAL: global })).toBe('Ada Global')
  project.git('config', 'user.name', 'Ada "L" Example; # one')
  expect(authorOf(project, { GIT_CONFIG_GLOBAL: global })).toBe('Ada "L" Example; # one')
  expect(authorOf(project, { WAYMARK_ACTOR: 'Tess' })).toBe('Tess')
  expect(authorOf(project, { CLAUDECODE: '1' })).toBe('claude-code')
})

test('a name from a file that git includes for the repository counts, and nothing that the repository configures runs', () => {
  const project = openCommandLine()
  const [global, work, ran] = [
    join(project.home, 'global'),
    join(project.home, 'work'),
    join(project.home, 'ran'),
  ]
  writeFileSync(work, '[user]\n\tname = Ada at Work\n')
  const included = `[includeIf "gitdir:${project.folder}/"]\n\tpath = ${work}\n`
  writeFileSync(global, `[user]\n\tname = Ada Global\n${included}`)
  project.git('config', 'alias.config', `!touch ${ran}`)
  project.git('config', 'core.fsmonitor', `touch ${ran}`)
  project.git('config', 'core.pager', `touch ${ran}`)
  expect(authorOf(project, { GIT_CONFIG_GLOBAL: global })).toBe('Ada at Work')
  project.git('config', 'user.name', 'Ada Here')
  expect(authorOf(project, { GIT_CONFIG_GLOBAL: global })).toBe('Ada Here')
  expect(existsSync(ran)).toBe(false)
})

test.each([
  ['[user]\nname = Ada', 'Ada'],
  ['[User] NAME = "Ada  L" ; comment', 'Ada  L'],
  ['[user]\nname = Ada # comment\nname = Ben', 'Ben'],
  ['[user "work"]\nname = Ada', null],
  ['[user]\nemail = a@example.com\n[branch]\nname = main', null],
])('reads user.name from %j', (text, name) => {
  expect(configuredName(text)).toBe(name)
})
