import { planAndTrack } from './0001-plan-and-track.ts'
import { gate } from './0002-gate.ts'
import { identities } from './0003-identities.ts'
import { refusedAttempts } from './0004-refused-attempts.ts'
import { missionChanges } from './0005-mission-changes.ts'
import { settledTasks } from './0006-settled-tasks.ts'
import { onePlan } from './0007-one-plan.ts'
import { portable } from './0008-portable.ts'
import { persons } from './0009-persons.ts'
import { edges } from './0010-edges.ts'
import { moving } from './0011-moving.ts'
import { projectNames } from './0012-project-names.ts'
import { whoAnswered } from './0013-who-answered.ts'
import { notifications } from './0014-notifications.ts'
import { largeMissions } from './0015-large-missions.ts'
import { lines } from './0016-lines.ts'
import { capture } from './0017-capture.ts'
import { commandOutputs } from './0018-command-outputs.ts'
import { tokenLimits } from './0019-token-limits.ts'
import { reviews } from './0020-reviews.ts'
import { lineClaims } from './0021-line-claims.ts'
import { whatWasSaid } from './0022-what-was-said.ts'
import { tokenParents } from './0023-token-parents.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [
  planAndTrack,
  gate,
  identities,
  refusedAttempts,
  missionChanges,
  settledTasks,
  onePlan,
  portable,
  persons,
  edges,
  moving,
  projectNames,
  whoAnswered,
  notifications,
  largeMissions,
  lines,
  capture,
  commandOutputs,
  tokenLimits,
  reviews,
  lineClaims,
  whatWasSaid,
  tokenParents,
]
