import { useEffect } from 'preact/hooks'
import { call, errorText } from '../../api/call.ts'
import { session } from '../../api/session.ts'
import { listenToFrames } from '../../live/feed.ts'
import { CopyButton } from '../../parts/text.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { projectStatus } from '../../shell/project-status.ts'
import { showToast } from '../../shell/toasts.tsx'
import './first-run.css'

/** Before the first mission: how a client is told of the server. The first mission opens by itself. */
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
  const known = session.value
  const { program, clients: found } =
    known === null || known === 'unknown person' ? { program: 'waymark', clients: [] } : known
  const clients = clientSetups(program)
  const wanted = query.value.get('client') ?? found[0]
  const chosen = clients.find(({ name }) => name === wanted) ?? clients[0]
  const missions = projectStatus.value?.missions_total ?? 0
  const demo = async () => {
    try {
      await call('demo', {})
      navigate(href('/plan'))
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  return (
    <div class="page-inner first-run">
      <h1>Connect an agent</h1>
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
      <div class="first-snippet">
        <pre>{chosen.text}</pre>
        <CopyButton text={chosen.text} />
      </div>
      <p>Then ask the agent:</p>
      <div class="first-snippet">
        <pre>Start a Waymark mission for this and work in tasks.</pre>
        <CopyButton text="Start a Waymark mission for this and work in tasks." />
      </div>
      <p class="first-waiting" role="status">
        <span class="live-dot" /> Waiting for an agent… Its {missions === 0 ? 'first' : 'next'} mission opens
        here by itself.
      </p>
      <h2>Or look around first</h2>
      <p>In a terminal, a recorded day of five agents happens again, on a dashboard of its own:</p>
      <div class="first-snippet">
        <pre>{demoPlayCommand(program)}</pre>
        <CopyButton text={demoPlayCommand(program)} />
      </div>
      <p class="muted">
        Here, in this project, a plan of a small web shop to try things on:{' '}
        <button type="button" class="button" onClick={() => void demo()}>
          Fill a demonstration plan
        </button>
      </p>
    </div>
  )
}

/** A client of agents, and what tells it of the server. */
interface ClientSetup {
  readonly name: string
  /** Where the text goes. */
  readonly where: string
  readonly text: string
}

/** Plays the recorded day, in a terminal. */
function demoPlayCommand(program: string): string {
  return `node ${program} demo play`
}

/** As docs/guide/clients.md has them, with the program that serves the page. */
function clientSetups(program: string): readonly [ClientSetup, ...ClientSetup[]] {
  const entry = { command: 'node', args: [program, 'mcp'] }
  return [
    {
      name: 'Claude Code',
      where: 'In a terminal, in the project that the agent works in:',
      text: `claude mcp add waymark -- node ${program} mcp`,
    },
    {
      name: 'Codex',
      where: 'In ~/.codex/config.toml:',
      text: `[mcp_servers.waymark]\ncommand = "node"\nargs = ["${program}", "mcp"]`,
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
