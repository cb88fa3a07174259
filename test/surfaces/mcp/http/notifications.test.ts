import { expect, test } from 'vitest'
import { legacy } from '../eras.ts'
import { runWaymark, startServer } from '../server-process.ts'
import { connect, eras, subscribe } from './clients.ts'
import { type ServedMcp, serveProject } from './serving.ts'

/** An agent on standard input in a process of its own, and a mission that it made. */
async function agentOnStdio({ project }: ServedMcp) {
  const worker = await legacy(startServer({ folder: project.folder }))
  const { mission_id } = (await worker.call('start_mission', { name: 'n', objective: 'o' })).structuredContent
  return { worker, mission_id }
}

test.each(eras)('%s: what an agent on stdio does is told to who subscribed over HTTP', async (era) => {
  const served = await serveProject()
  const { worker, mission_id } = await agentOnStdio(served)
  const reader = await connect(served.url, { era })
  const mission = `waymark://missions/${mission_id}`
  await subscribe(reader, era, [mission])
  const { task_id } = (await worker.call('start_task', { mission_id, name: 'Sign in' })).structuredContent
  await reader.updated(mission)
  await reader.listChanged()
  expect(new Set(reader.told)).toEqual(new Set([mission, 'list']))

  const other = await connect(served.url, { era })
  const task = `waymark://tasks/${task_id}`
  await subscribe(other, era, [task])
  await worker.call('log_milestone', { task_id, message: 'Half way' })
  await other.updated(task)
  const { contents } = await other.client.readResource({ uri: task })
  expect(JSON.stringify(contents)).toContain('Half way')
})

test.each(eras)('%s: what a person does on the command line is told, too', async (era) => {
  const served = await serveProject()
  const { worker, mission_id } = await agentOnStdio(served)
  const { task_id } = (await worker.call('start_task', { mission_id, name: 'Sign in' })).structuredContent
  const issue = { task_id, type: 'bug', description: 'd', resolution: 'r', requires_human_review: true }
  const { issue_id } = (await worker.call('log_issue', issue)).structuredContent
  const reader = await connect(served.url, { era })
  const uri = `waymark://tasks/${task_id}`
  await subscribe(reader, era, [uri])
  runWaymark(served.project.folder, 'resolve', issue_id, '--answer', 'Go on.')
  await reader.updated(uri)
})
