import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bin, runAlone } from '../../support/program.ts'
import { fileIn, openHookProject } from './hook-project.ts'

const tellsParts = `
  const there = new Set(process.moduleLoadList)
  const { writeFileSync } = require('node:fs')
  process.on('exit', () => {
    const parts = process.moduleLoadList.filter((part) => !there.has(part))
    writeFileSync(process.env.TOLD_TO, JSON.stringify([...parts, ...Object.keys(require.cache)]))
  })
`

test('a hook that answers loads no part of Node that takes long, and of this program only what judges', () => {
  const { startTask, folder, home, environment } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const [preload, parts] = [join(home, 'preload.cjs'), join(home, 'parts.json')]
  writeFileSync(preload, tellsParts)
  const said = { cwd: folder, tool_name: 'Edit', tool_input: fileIn(folder, 'src/pay.ts') }
  const { code, out, error } = runAlone(['--require', preload, bin, 'hook', 'pre-tool-use'], {
    folder,
    environment: { ...environment, TOLD_TO: parts },
    input: JSON.stringify(said),
  })
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(JSON.parse(out).hookSpecificOutput.permissionDecision).toBe('ask')
  const loaded: readonly string[] = JSON.parse(readFileSync(parts, 'utf8'))
  expect(loaded.filter((part) => part.includes('waymark-hook.cjs'))).toHaveLength(1)
  const slow =
    /NativeModule (?:crypto|tty|net|stream|zlib|child_process|worker_threads|perf_hooks|fs\/promises)$/
  expect(loaded.filter((part) => slow.test(part) || /hook-late-/.test(part))).toEqual([])
})
