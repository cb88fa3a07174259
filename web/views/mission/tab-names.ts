/** The tabs of a mission, in the order of their keys. The first has no name in the address. */
export const tabs = [
  { name: 'timeline', title: 'Timeline' },
  { name: 'board', title: 'Board' },
  { name: 'dependencies', title: 'Dependencies' },
  { name: 'changes', title: 'Changes' },
  { name: 'decisions', title: 'Decisions' },
  { name: 'journal', title: 'Journal' },
] as const

export type TabName = (typeof tabs)[number]['name']

export function tabNamed(name: string | undefined): TabName {
  return tabs.find((tab) => tab.name === name)?.name ?? 'timeline'
}

export function tabPath(missionId: string, tab: TabName): string {
  const mission = `/missions/${encodeURIComponent(missionId)}`
  return tab === 'timeline' ? mission : `${mission}/${tab}`
}
