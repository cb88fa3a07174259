import { play } from '../../src/app/demo/play.ts'
import { openDemoProject } from '../../src/app/demo/project.ts'
import { openProjects } from '../../src/app/serve/projects.ts'
import { type ServingDay, serveDay } from './serving-day.ts'

/** A real server over the recorded day, all of which has happened; it ended a moment ago. */
export async function openRecordedDay(
  options: { readonly port?: number; readonly assets?: string; readonly isDemo?: boolean } = {},
): Promise<ServingDay> {
  const { port = 0, assets, isDemo = false } = options
  const demo = await openDemoProject()
  const { home, folder, environment, events } = demo
  const projects = openProjects({ named: [folder], environment, workingFolder: home })
  const { store } = projects[0].context
  await play(events, { store, signal: new AbortController().signal, speed: null })
  const over = isDemo && { demo: { state: () => 'over' as const, play: () => undefined } }
  return serveDay(projects, { home, hours: 0, port, assets, ...over, remove: () => demo.remove() })
}
