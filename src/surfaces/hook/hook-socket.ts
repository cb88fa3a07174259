import type { Server, Socket } from 'node:net'
import type { GuardCaller } from '../../gate/operations/guard-git.ts'
import { errorCode } from '../../kernel/failure.ts'
import { isJsonObject, parseJson } from '../../kernel/json.ts'
import { type HookEventName, hookEvents } from './protocol.ts'

/** A hook's call, for a server that has the record open. It names neither a command nor a variable for it to use. */
export interface HookRequest {
  readonly event: HookEventName
  /** The client's input. */
  readonly input: string
  /** The folder where the hook was started. */
  readonly workingFolder: string
  /** The top folder of its work tree. */
  readonly top: string
  readonly caller: GuardCaller
}

/** In characters: a longer call is judged by the hook itself, since reading a script or a patch blocks the server. */
const maxRequestLength = 64 * 1024
// Each may run git: more at once would keep the server's own callers waiting.
const maxConnections = 16
const maxServers = 3
// In milliseconds. A client ends its hook after ten seconds, and the hook may need six to judge by itself.
const maxGreetingMs = 500
const maxAnswerMs = 3000

/**
 * Asks the first server that greets as the hook expects; null where none answers, so that the hook judges by itself. The
 * greeting says what both must have in common.
 */
export async function askHookServer(
  paths: readonly string[],
  greeting: string,
  request: HookRequest,
): Promise<string | null> {
  const line = `${JSON.stringify(request)}\n`
  if (line.length > maxRequestLength) return null
  for (const path of paths.slice(0, maxServers)) {
    const socket = process.getBuiltinModule('node:net').connect({ path })
    try {
      if ((await nextLine(socket, maxGreetingMs)) !== greeting) continue
      socket.write(line)
      const answer = await nextLine(socket, maxAnswerMs)
      return isJsonObject(answer) && typeof answer['out'] === 'string' ? answer['out'] : null
    } finally {
      socket.destroy()
    }
  }
  return null
}

/** Answers hooks on a socket. `answer` returns null to leave a call to the hook itself. */
export async function serveHooks(
  path: string,
  greeting: string,
  answer: (request: HookRequest) => Promise<string | null>,
): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:net')
  const server = createServer((socket) => {
    void answerOne(socket, greeting, answer).catch(() => socket.destroy())
  })
  server.maxConnections = maxConnections
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(path, resolve)
  await promise
  return server.on('error', () => server.close()).unref()
}

/** Whether no process listens on a socket any more. */
export async function isAbandoned(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = process.getBuiltinModule('node:net').connect({ path })
  socket
    .on('connect', () => resolve(false))
    .on('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED'))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

async function answerOne(
  socket: Socket,
  greeting: string,
  answer: (request: HookRequest) => Promise<string | null>,
): Promise<void> {
  socket.setTimeout(2 * maxAnswerMs, () => socket.destroy())
  socket.unref().write(`${JSON.stringify(greeting)}\n`)
  const request = readRequest(await nextLine(socket, maxAnswerMs))
  const out = request === null ? null : await answer(request)
  if (out !== null) socket.write(`${JSON.stringify({ out })}\n`)
  // A peer that keeps its side open would hold the connection.
  socket.destroySoon()
}

function readRequest(value: unknown): HookRequest | null {
  if (!isJsonObject(value)) return null
  const { event, input, workingFolder, top, caller } = value
  const known = hookEvents.find((one) => one === event)
  if (known === undefined || typeof input !== 'string') return null
  if (typeof workingFolder !== 'string' || typeof top !== 'string' || !isJsonObject(caller)) return null
  const { client, session, canAsk } = caller
  if (typeof client !== 'string' || typeof canAsk !== 'boolean') return null
  if (session !== null && typeof session !== 'string') return null
  return { event: known, input, workingFolder, top, caller: { client, session, canAsk } }
}

/** The next line as JSON; undefined at the end, after an error or a timeout, and where it is too long or no JSON. */
async function nextLine(socket: Socket, timeoutMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  let text = ''
  const read = (chunk: string) => {
    text += chunk
    if (text.length > maxRequestLength) resolve(undefined)
    else if (text.endsWith('\n')) resolve(parseJson(text))
  }
  const end = () => resolve(undefined)
  // A peer that says nothing must not keep a server alive that ends.
  const timer = setTimeout(end, timeoutMs).unref()
  socket.setEncoding('utf8').on('data', read).on('error', end).on('end', end).on('close', end)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.off('data', read)
  }
}
