import type { AttemptDetail, Change } from '../../api/answers.ts'

/** Files that an agent says it changed and that no measured change is of. */
export function claimedNotFound(
  claimed: NonNullable<AttemptDetail['claimed']>,
  changes: readonly Change[],
): readonly string[] {
  const said = [claimed.summary, ...claimed.achievements].flatMap(pathsIn)
  const found = changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
  return [...new Set(said)].filter(
    (path) => !found.some((real) => real === path || real.endsWith(`/${path}`)),
  )
}

// A path has a folder and an ending; a word with a slash alone, such as and/or, is none.
const path = /(?<![\w@./:-])(?:\.{0,2}\/)?((?:[\w@.-]+\/)+[\w@-][\w@.-]*\.\w{1,8})(?![\w/])/g

function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(path)].map(([, found]) => found ?? '')
}
