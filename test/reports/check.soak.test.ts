import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine, startWork } from '../surfaces/cli/command-line.ts'

test('fails for files beyond the 20,000 that it looks at', () => {
  const project = openCommandLine()
  startWork(project)
  project.git('checkout', '-qb', 'work')
  const blob = project.git('hash-object', '-w', 'README.md').trim()
  const entries = Array.from({ length: 20_001 }, (_, at) => `100644 ${blob}\ta/${at}\n`).join('')
  writeFileSync(join(project.folder, 'entries'), entries)
  execFileSync('sh', ['-c', 'git update-index --add --index-info < entries'], { cwd: project.folder })
  project.git('commit', '-qm', 'Many', '--author=Eve <eve@example.com>')
  const words = ['check', '--base', 'main', '--people', 'eve@example.com', '--json']
  expect(JSON.parse(project.run(...words).out).reasons).toEqual([
    {
      kind: 'change',
      message: 'The branch changes more than 20000 files: the others were not checked.',
      path: null,
      id: null,
    },
  ])
})
