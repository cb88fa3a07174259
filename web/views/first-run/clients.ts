/** A client of agents, and what tells it of the server. */
export interface ClientSetup {
  readonly name: string
  /** Where the text goes. */
  readonly where: string
  readonly text: string
}

const program = '/path/to/waymark/bin/waymark.js'
const entry = { command: 'node', args: [program, 'mcp'] }

/** Plays the recorded day, in a terminal. */
export const demoCommand = `node ${program} demo play`

/** As docs/guide/clients.md has them. */
export const clients: readonly ClientSetup[] = [
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
