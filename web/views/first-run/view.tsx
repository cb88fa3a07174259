import { useEffect, useState } from 'preact/hooks'
import { joinNames } from '../../../src/kernel/text.ts'
import { errorText } from '../../api/call.ts'
import { type CurrentSession, isSingleUser, playDemo, readSession, session } from '../../api/session.ts'
import { listenToFrames } from '../../live/feed.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { programCommand } from '../../parts/terminal-command.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { base, href, navigate, query, setQuery } from '../../router/location.ts'
import { OperationButton } from '../../shell/operation-button.tsx'
import { projectStatus } from '../../shell/project-status.ts'
import { showToast } from '../../shell/toasts.tsx'
import './first-run.css'

/** Before the first mission: connect a project, or watch the recorded day. The first mission opens by itself. */
export function View() {
  useEffect(
    () =>
      listenToFrames(({ event, data }) => {
        const id = data?.['mission_id']
        if ((event === 'mission:created' || event === 'workflow:created') && typeof id === 'string') {
          navigate(href(`/missions/${id}`))
        }
      }),
    [],
  )
  useEffect(() => {
    // Back from the terminal, where clients may have been set up.
    const again = () => void readSession().catch(() => undefined)
    window.addEventListener('focus', again)
    return () => window.removeEventListener('focus', again)
  }, [])
  const current = session.value
  if (current === null || current === 'unknown person') return null
  const { demo } = current
  if (demo !== null) return <DemoStart demo={demo} command={programCommand()} />
  return <ProjectStart command={programCommand()} current={current} />
}

type DemoPlayback = 'waiting' | 'playing' | 'over'

/** The page of `npm start`: watch a day, or connect a project. */
function DemoStart({ demo, command }: { readonly demo: DemoPlayback; readonly command: string }) {
  return (
    <div class="page-inner first-run">
      <h1>Welcome to Waymark</h1>
      <p class="muted">Your coding agents say done. Waymark checks it against git.</p>
      <div class="first-choices">
        <section aria-labelledby="watch">
          <h2 id="watch">Watch a recorded day</h2>
          <p>In one minute you see:</p>
          <ul>
            <li>a plan, and three agents that work on it</li>
            <li>a question for a person, and a claim that is caught</li>
            <li>changes as git measured them, beside what agents claim</li>
            <li>a review that sends work back, and an approval</li>
          </ul>
          <WatchDay demo={demo} />
          <p class="muted">It plays in a temporary project. Ctrl-C in the terminal removes it.</p>
        </section>
        <section aria-labelledby="connect">
          <h2 id="connect">Connect your own project</h2>
          <p>In another terminal:</p>
          <ConnectSteps
            steps={[
              ['Go to your repository.', 'cd path/to/your/project'],
              ['Set up your agents’ clients. You see every change first.', `${command} init`],
              ['Ask an agent:', 'Start a Waymark mission for this and work in tasks.'],
              ['Open its dashboard.', `${command} open`],
            ]}
          />
        </section>
      </div>
    </div>
  )
}

function WatchDay({ demo }: { readonly demo: DemoPlayback }) {
  const [isStarting, setStarting] = useState(false)
  const start = async () => {
    setStarting(true)
    try {
      await playDemo()
    } catch (error) {
      setStarting(false)
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  if (demo === 'waiting') {
    return (
      <button
        type="button"
        class="button"
        data-kind="primary"
        disabled={isStarting}
        onClick={() => void start()}
      >
        Watch the recorded day
      </button>
    )
  }
  return (
    <p class="first-waiting" role="status">
      <span class="live-dot" />
      <span>
        {demo === 'over' ? 'The day has ended. ' : 'The day is playing. '}
        <a class="link" href={href('/missions')}>
          See its missions
        </a>{' '}
        or{' '}
        <a class="link" href={href('/')}>
          what needs you
        </a>
        .
      </span>
    </p>
  )
}

interface ProjectStartProps {
  readonly command: string
  readonly current: CurrentSession
}

/** The first page of a project in which nothing happened. */
function ProjectStart({ command, current }: ProjectStartProps) {
  const { clients: found, set_up: setUp } = current
  const clients = clientSetups(current)
  const wanted = query.value.get('client') ?? found[0]
  const chosen = clients.find(({ name }) => name === wanted) ?? clients[0]
  const missions = projectStatus.value?.missions_total ?? 0
  return (
    <div class="page-inner first-run">
      <h1>Connect an agent</h1>
      <ConnectSteps
        steps={[
          ...(isSingleUser.value
            ? []
            : [
                [
                  'In a terminal, in your clone of the repository: connect it. The command asks for a token of yours; create one in Settings.',
                  `${command} connect ${location.origin}${base.value}`,
                ] as const,
              ]),
          setUp.length > 0
            ? [`${joinNames(setUp)} ${setUp.length === 1 ? 'is' : 'are'} set up in this project.`, null]
            : [
                `${isSingleUser.value ? 'In a terminal, in this project' : 'In the same folder'}: set up your agents’ clients. You see every change first.`,
                `${command} init`,
              ],
          ['Then ask the agent:', 'Start a Waymark mission for this and work in tasks.'],
        ]}
      />
      <p class="first-waiting" role="status">
        <span class="live-dot" /> Waiting for an agent. Its {missions === 0 ? 'first' : 'next'} mission opens
        here by itself.
      </p>
      <h2>Or plan a mission yourself</h2>
      <p>Start it, and add its tasks to the plan. Agents take them from there.</p>
      <OperationButton operation="start_mission">Start a mission</OperationButton>
      <h2>Or set one client up by hand</h2>
      <nav class="tabs" aria-label="Clients">
        {clients.map(({ name }) => (
          <button
            key={name}
            type="button"
            {...(name === chosen.name && { 'aria-current': 'true' as const })}
            onClick={() => setQuery({ client: name })}
          >
            {name}
          </button>
        ))}
      </nav>
      <p>{chosen.where}</p>
      <Snippet text={chosen.text} />
      <h2>Or watch a recorded day first</h2>
      <p>It plays in a dashboard of its own and leaves nothing behind.</p>
      <Snippet text={`${command} demo`} />
    </div>
  )
}

/** What to do, and the text to copy; null where it is done. */
type ConnectStep = readonly [what: string, text: string | null]

function ConnectSteps({ steps }: { readonly steps: readonly ConnectStep[] }) {
  return (
    <ol class="first-steps">
      {steps.map(([what, text]) => (
        <li key={what}>
          <p>
            {text === null ? <StatusIcon status="done" /> : null} {what}
          </p>
          {text === null ? null : <Snippet text={text} />}
        </li>
      ))}
    </ol>
  )
}

function Snippet({ text }: { readonly text: string }) {
  return (
    <div class="first-snippet">
      <pre>{text}</pre>
      <CopyButton text={text} />
    </div>
  )
}

/** A client of agents, and its entry for the server. */
interface ClientSetup {
  readonly name: string
  /** Where the text goes. */
  readonly where: string
  readonly text: string
}

/** As docs/guide/clients.md has them, with the program that serves the page. */
function clientSetups({ program, on_path }: CurrentSession): readonly [ClientSetup, ...ClientSetup[]] {
  const entry = on_path ? { command: 'waymark', args: ['mcp'] } : { command: 'node', args: [program, 'mcp'] }
  return [
    {
      name: 'Claude Code',
      where: 'In a terminal, in the project that the agent works in:',
      text: `claude mcp add waymark -- ${programCommand()} mcp`,
    },
    {
      name: 'Codex',
      where: 'In ~/.codex/config.toml:',
      text: `[mcp_servers.waymark]\ncommand = "node"\nargs = [${JSON.stringify(program)}, "mcp"]`,
    },
    {
      name: 'Cursor',
      where: 'In .cursor/mcp.json:',
      text: JSON.stringify({ mcpServers: { waymark: entry } }, null, 2),
    },
    {
      name: 'VS Code',
      where: 'In .vscode/mcp.json:',
      text: JSON.stringify({ servers: { waymark: entry } }, null, 2),
    },
  ]
}
