import { join } from 'node:path'
import { SetupRecords } from '../../../src/app/setup/records.ts'
import { applyPlan, Disk, writer } from '../../../src/clients/setup/disk.ts'
import { planSetup } from '../../../src/clients/setup/plan-setup.ts'
import { clientNamed } from '../../../src/clients/setup/setup-clients.ts'
import { contextOn, plainly } from './ground.ts'

// Sets Claude Code up, and dies as by kill -9 before the rename whose number is given.
const [folder = '', home = '', at = ''] = process.argv.slice(2)
const context = contextOn('linux', { folder, home })
const records = new SetupRecords(join(home, '.local', 'state', 'waymark'))
const disk = new Disk()
const client = clientNamed('claude')
if (!client) throw new Error('no such client')
const plan = planSetup([client], {
  context,
  request: { ...plainly, allow: true, hooks: true },
  assets: { tools: [], skill: '# Waymark\n' },
  read: disk.read,
  fault: disk.fault,
  expand: disk.expand,
  changesOf: () => [],
})
let renamed = 0
applyPlan(plan.files, {
  disk,
  project: folder,
  recordOf: records.of,
  keep: records.keep,
  writer: {
    ...writer,
    rename: (from, to) => {
      renamed += 1
      if (renamed === Number(at)) process.kill(process.pid, 'SIGKILL')
      writer.rename(from, to)
    },
  },
})
