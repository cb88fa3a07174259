import { gateVariable, isInsideCommand } from '../../gate/commands/os-processes.ts'
import type { Actor, Channel } from '../../kernel/actor.ts'
import { shownName } from '../../surfaces/mcp/surface.ts'
import { type Environment, firstSetVariable } from './environment.ts'

/** The variables that agents set in their shells, with the agents' names. */
const agentMarks: Readonly<Record<string, string>> = {
  CLAUDECODE: 'claude-code',
  CLAUDE_CODE: 'claude-code',
  CURSOR_AGENT: 'cursor',
  CODEX_SANDBOX: 'codex',
  CODEX_SANDBOX_NETWORK_DISABLED: 'codex',
  CODEX_THREAD_ID: 'codex',
  GEMINI_CLI: 'gemini-cli',
  QWEN_CODE: 'qwen-code',
  OPENCODE: 'opencode',
  AUGMENT_AGENT: 'augment',
  CLINE_ACTIVE: 'cline',
  COPILOT_CLI: 'copilot',
  AI_AGENT: 'agent',
}

const gateCommand = { name: 'command of a guard', kind: 'agent', role: null, insideCommand: true } as const

/** The actor of a server that a guard's command started. */
export function commandActor(channel: Channel): Actor {
  return { ...gateCommand, channel }
}

/** Whether this process runs inside a guard's command, where nobody may write. */
export function runsInsideCommand(environment: Environment): boolean {
  if (isSet(environment[gateVariable])) return true
  ownPlace ??= isInsideCommand(process.pid)
  return ownPlace
}
// Read once at the start: a process that outlives the command still belongs to it.
let ownPlace: boolean | null = null

/**
 * The user of the command line: a person, except inside an agent's shell or a guard's command. The login is the identity;
 * the name is only for display.
 */
export function commandLineActor(environment: Environment, userName: string, personName = userName): Actor {
  if (runsInsideCommand(environment)) return commandActor('cli')
  const agent = agentOf(environment)
  return {
    name: firstSetVariable(environment, ['WAYMARK_ACTOR']) ?? agent ?? personName,
    kind: agent === null ? 'person' : 'agent',
    role: roleOf(environment),
    channel: 'cli',
    identity: userIdentity(userName),
  }
}

/** The login of this machine's user, independent of their display name. */
export function userIdentity(userName: string): string {
  return `user:${userName}`
}

/** The actor on standard input: an agent with the name of its client. */
export function stdioActor(
  environment: Environment,
  clientName: string | undefined,
  connection: string,
): Actor {
  if (runsInsideCommand(environment)) {
    return { ...commandActor('stdio'), name: shownName(clientName) ?? gateCommand.name, connection }
  }
  return {
    name:
      firstSetVariable(environment, ['WAYMARK_ACTOR']) ??
      shownName(clientName) ??
      agentOf(environment) ??
      'agent',
    kind: 'agent',
    role: roleOf(environment),
    channel: 'stdio',
    connection,
  }
}

function agentOf(environment: Environment): string | null {
  const mark = Object.keys(agentMarks).find((name) => isSet(environment[name]))
  return mark === undefined ? null : (agentMarks[mark] ?? null)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value)
}

function roleOf(environment: Environment): string | null {
  return firstSetVariable(environment, ['WAYMARK_ROLE', 'STATE_GATE_ROLE']) ?? null
}
