import type { RequestContext } from '../app.ts'
import { known } from '../guard/admit.ts'
import type { Serving } from '../serving.ts'

/** `GET /api/session`: who is asking, and what a page needs to begin. */
export function sessionAnswer(c: RequestContext, serving: Serving) {
  const { actor, csrf } = known(c.var.caller)
  const { name, kind, role, channel } = actor
  return {
    actor: { name, kind, role, channel },
    csrf,
    project: c.var.project.key,
    projects: projectList(serving),
    version: serving.version,
    program: serving.program,
    clients: c.var.project.clients(),
  }
}

/** `GET /api/projects`. */
export function projectList({ projects }: Serving) {
  return projects.map(({ key, name, folder }) => ({ key, name, folder }))
}
