// A hook sets these, and git would work on another repository than the command's.
const gitPlaces = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
]

// A command is written by those whose work it judges: it does not act in the role of who runs it.
const roles = ['WAYMARK_ROLE', 'STATE_GATE_ROLE', 'WAYMARK_ACTOR']

/** What a command inherits: this process' variables, and that nobody watches it. */
export function commandEnvironment(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dropped = new Set([...gitPlaces, ...roles, 'FORCE_COLOR'])
  const kept = Object.entries(inherited).filter(([name]) => !dropped.has(name))
  return { ...Object.fromEntries(kept), CI: 'true', NO_COLOR: '1', WAYMARK_RUNNER: '1' }
}
