import type { LinkedTask, TaskLinks } from '../../api/answers.ts'
import { shortId } from '../../parts/short-id.ts'
import { markStatus } from '../../parts/status.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { href } from '../../router/location.ts'

/** The tasks around this one. */
export function Links({ links }: { readonly links: TaskLinks }) {
  return (
    <div class="links">
      <LinkList title="Depends on" tasks={links.depends_on} />
      <LinkList title="Blocks" tasks={links.blocks} />
      <LinkList title="Part of" tasks={links.parent ? [links.parent] : []} />
      <LinkList title="Subtasks" tasks={links.subtasks} />
    </div>
  )
}

function LinkList({ title, tasks }: { readonly title: string; readonly tasks: readonly LinkedTask[] }) {
  if (tasks.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {tasks.map(({ id, title: name, mark }) => (
          <li key={id}>
            <a class="linked" href={href(`/tasks/${id}`)}>
              <StatusIcon status={markStatus(mark)} /> <span class="id">{shortId(id)}</span>{' '}
              <span class="cut" {...(mark === 'dropped' && { 'data-dropped': '' })}>
                {name}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
