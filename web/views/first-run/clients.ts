/** A client of agents, and what tells it of the server. */
export interface ClientSetup {
  readonly name: string
  /** Where the text goes. */
  readonly where: string
  readonly text: string
}

/** Plays the recorded day, in a terminal. */
export function demoCommand(program: string): string {
  return `node ${program} demo play`
}

/** As docs/guide/clients.md has them, with the program that serves the page. */
export function clientSetups(program: string): readonly [ClientSetup, ...ClientSetup[]] {
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
