/** The page of each kind of id. */
const pages: Readonly<Record<string, string>> = { t: 'tasks', m: 'missions', w: 'missions', run: 'runs' }
/** Where a person may type an id behind. */
const sections = ['', 'task', 'tasks', 'mission', 'missions', 'workflow', 'run', 'runs', 'inbox']

/** The path that a typed one means, such as `/tasks/t-7` for `/task/t-7`; null if it is a page, or means none. */
export function meantPath(path: string): string | null {
  if (/^\/inbox\/?$/.test(path)) return '/'
  const [, section = '', prefix = '', rest = ''] =
    /^\/(?:([a-z]+)\/)?(t|m|w|run)(-[0-9a-z-]+)\/?$/.exec(path) ?? []
  const page = pages[prefix]
  if (page === undefined) return null
  if (section === 'review' && prefix !== 'run')
    return `/review/${prefix === 't' ? 'task' : 'mission'}/${prefix}${rest}`
  return section === page || !sections.includes(section) ? null : `/${page}/${prefix}${rest}`
}
