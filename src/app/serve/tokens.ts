import { join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { formatCount } from '../../kernel/text.ts'
import { print, printError, printJson } from '../../surfaces/cli/terminal.ts'
import { Logins } from '../../surfaces/http/guard/logins.ts'
import { TokenFile } from '../../surfaces/http/guard/tokens.ts'
import { commandLineActor } from '../settings/actor.ts'
import { userName } from '../settings/environment.ts'
import { type CommandArguments, isJsonRequested, readWords } from '../settings/flags.ts'
import { serverFolder } from '../settings/places.ts'

/** The first are usual, and the others what they were called before. */
const verbs = ['create', 'list', 'revoke', 'add', 'remove']

/** `waymark token`: who may use the server, beside the two tokens that it makes for its own user. */
export function token(words: readonly string[]): void {
  const read = readWords('token', words)
  const { mistaken } = read
  const tokens = new TokenFile(serverFolder(process.env))
  const [verb = '', name, ...rest] = read.positionals
  if (rest[0] !== undefined) throw mistaken(`token ${verb} does not take ${rest[0]}.`)
  if (verb === '') throw mistaken('token needs create, list or revoke.')
  if (!verbs.includes(verb)) throw mistaken(`There is no token ${verb}.${didYouMean(verb, verbs)}`)
  if (verb === 'list' && name !== undefined) throw mistaken('token list takes no values.')
  if (verb !== 'list' && name === undefined) throw mistaken(`token ${verb} needs the name of a token.`)
  if (name === undefined) listTokens(tokens)
  else if (verb === 'create' || verb === 'add') addToken(tokens, name, read)
  else removeToken(tokens, name)
}

function addToken(tokens: TokenFile, name: string, { text, mistaken }: CommandArguments): void {
  const [kind, role] = [text('kind') ?? 'agent', text('role')]
  if (kind !== 'agent' && kind !== 'person') throw mistaken(`--kind must be agent or person, not "${kind}".`)
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@()-]{0,99}$/u.test(name)) {
    throw mistaken(`"${name}" cannot be a token's name: it has up to 100 letters, digits, spaces and ._@-.`)
  }
  refuseAgentForPerson(kind, role)
  const secret = tokens.add({ name, kind, role: role ?? null, explicit: true })
  print(`${secret}\n`)
  printError(
    `This is the token of ${name} (${kind}). It is shown only now: keep it where only they can read it.\n`,
  )
}

/** As on the whole command line: an agent makes no one a person, and a guard's command gives no roles. */
function refuseAgentForPerson(kind: string, role: string | undefined): void {
  const { kind: caller, name, insideCommand } = commandLineActor(process.env, userName())
  if (insideCommand && role !== undefined) {
    throw new Failure('FORBIDDEN', `A token with the role ${role} is not made inside a guard's command.`, {
      reason: 'inside_command',
      hint: 'Ask a person to run: waymark token create <name> --role <role>',
    })
  }
  if (kind === 'agent' || caller === 'person') return
  throw new Failure('FORBIDDEN', `Tokens of people are made by people; ${name} acts as an agent.`, {
    reason: 'person_needed',
    hint: 'Ask a person to run: waymark token create <name> --kind person',
  })
}

function listTokens(tokens: TokenFile): void {
  for (const { name, kind, role, explicit, created } of tokens.entries()) {
    const source = explicit ? 'added' : `made by the server, in ${tokens.plainFile(kind)}`
    print(`${name}\t${kind}\t${role ?? '-'}\t${created}\t${source}\n`)
  }
}

function removeToken(tokens: TokenFile, name: string): void {
  tokens.remove(name)
  printError(`The token of ${name} is no longer valid, also for servers that run.\n`)
}

/** `waymark logout`: ends logins of the dashboard, at every server of this user and in every browser. */
export function logout(words: readonly string[]): void {
  const flags = readWords('logout', words)
  const { positionals, mistaken } = flags
  const [name, odd] = positionals
  if (odd !== undefined) throw mistaken(`logout does not take ${odd}.`)
  refuseAgent()
  const folder = serverFolder(process.env)
  const hash = name === undefined ? null : tokenNamed(name, folder)
  const sessions = new Logins(join(folder, 'sessions.json'))
  const ended = sessions.end((session) => hash === null || session.token === hash)
  if (isJsonRequested(flags)) {
    printJson({ ended })
    return
  }
  const whose = name === undefined ? '' : ` of ${name}`
  print(
    `${ended === 0 ? `No browser was logged in${whose && ` with the token${whose}`}.` : `Ended ${formatCount(ended, 'login')}${whose}. waymark serve prints a new login address.`}\n`,
  )
}

function refuseAgent(): void {
  const { kind, name } = commandLineActor(process.env, userName())
  if (kind === 'person') return
  throw new Failure('FORBIDDEN', `People log out themselves; ${name} acts as an agent.`, {
    reason: 'person_needed',
    hint: 'Ask a person to run: waymark logout',
  })
}

function tokenNamed(name: string, folder: string): string {
  const entries = new TokenFile(folder).entries()
  const found = entries.find((entry) => entry.name === name)
  if (found) return found.hash
  const names = entries.map((entry) => entry.name).join(', ') || 'none'
  throw new Failure('NOT_FOUND', `There is no token "${name}".`, {
    reason: 'token_not_found',
    hint: `The tokens are ${names}.`,
  })
}
