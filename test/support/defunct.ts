import { execFileSync } from 'node:child_process'

/**
 * The processes below this one that have ended and that nobody waited for, as `ps` tells of them. The host that other tests
 * run the program in waits for its own only while it runs it.
 */
export function defunctDescendants(): readonly string[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
  const rows = table
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line))
    .filter((row) => row !== null)
    .map(([, pid = '', parent = '', status = '', words = '']) => ({ pid, parent, status, words }))
  const below = new Set([String(process.pid)])
  // Parents need not come first.
  for (let before = 0; before !== below.size; ) {
    before = below.size
    for (const { pid, parent, words } of rows)
      if (below.has(parent) && !words.includes('program-host.mjs')) below.add(pid)
  }
  return rows
    .filter(({ pid, status, words }) => below.has(pid) && status.startsWith('Z') && !/^\[?ps\b/.test(words))
    .map(({ pid, words }) => `${pid} ${words}`)
}
