import type { HeadHistory } from './head-history.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './run-git.ts'

/** Notes on the task's commits that the work tree no longer stands on. */
export async function leftBehind(
  place: PrivateDirectory,
  { own, replayed, departures }: HeadHistory,
  head: string | null,
): Promise<string[]> {
  if (own.length === 0 || head === null) return []
  const input = Buffer.from([...own.map(({ commit }) => commit), `^${head}`, ''].join('\n'))
  const unreached = new Set(
    (await git(['rev-list', '--stdin'], privateCall(place, input))).toString().split('\n'),
  )
  const lost = own.filter(({ commit }) => unreached.has(commit)).map(({ commit }) => commit)
  // An amended commit is not lost: its successor is there.
  const replaced = new Set(own.map(({ insteadOf }) => insteadOf))
  const left = lost.filter((commit) => !replaced.has(commit))
  if (left.length === 0) return []
  const branches = new Map(departures.map(({ branch, commit }) => [commit, branch]))
  return left.flatMap((commit) => {
    const branch = branches.get(commit)
    // After a rebase the work is there under another id.
    if (branch === undefined && replayed.length > 0) return []
    const where = branch === undefined || /^[0-9a-f]{40,64}$/.test(branch) ? '' : ` on branch ${branch}`
    return [`The commit ${commit.slice(0, 12)}${where} is not in the work tree any more.`]
  })
}
