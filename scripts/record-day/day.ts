import type { Cast } from './cast.ts'
import { changeUnderControl } from './change-under-control.ts'
import { documentWork } from './document-work.ts'
import { say } from './pace.ts'
import { writePlan } from './plan.ts'
import { planMission } from './plan-mission.ts'
import { reportMission } from './report-mission.ts'
import { scopeMission } from './scope-mission.ts'

/** The day: one agent plans, then five work side by side, each with a server process of its own. */
export async function liveThroughDay(cast: Cast): Promise<void> {
  const { ground, think } = cast
  const [scope, documents, reports] = ['scope', 'documents', 'reports'].map((name) => ground.workTree(name))
  if (!scope || !documents || !reports) throw new Error('three work trees were made')
  const [ada, bo, cleo, dai, eli] = await Promise.all([
    cast.join('claude-code', scope),
    cast.join('codex', ground.main),
    cast.join('claude-code', ground.main),
    cast.join('cursor', documents),
    cast.join('gemini-cli', reports),
  ])
  say('ada writes the plan')
  await writePlan(cast, ada)
  await think(10)
  const beside: Promise<void>[] = []
  const after = async (seconds: number, name: string, work: () => Promise<void>) => {
    await think(seconds)
    say(`${name} begins`)
    await work()
    say(`${name} is done for the day`)
  }
  await Promise.all([
    after(0, 'ada', () => scopeMission(cast, ada, scope)),
    after(40, 'cleo', () =>
      planMission(cast, cleo, (missionId) => {
        beside.push(after(5, 'dai', () => documentWork(cast, dai, { tree: documents, missionId })))
      }),
    ),
    after(110, 'eli', () => reportMission(cast, eli, reports)),
    after(175, 'bo', () => changeUnderControl(cast, bo)),
  ])
  await Promise.all(beside)
}
