import { describe, expect, onTestFinished, test } from 'vitest'
import { bin } from '../../support/program.ts'
import { handshake, legacy } from './eras.ts'
import { startServer } from './server-process.ts'

/** What one server answers to these lines, each followed by a request that must still be answered. */
async function answersTo(lines: readonly (string | Buffer)[]) {
  const server = startServer()
  const answers = []
  for (const line of lines) {
    const from = server.messages.length
    server.write(line)
    await server.ask('ping')
    answers.push(server.messages.slice(from, -1))
  }
  expect(await server.end()).toBe(0)
  return answers
}

describe('a line that is no request is answered, and the server goes on', () => {
  test('TM-084 a line that is not JSON is a parse error without an id', async () => {
    const lines = [
      'not json',
      '{"jsonrpc":"2.0","id":1,',
      "{'id': 1}",
      'undefined',
      '{"id":1}{"id":2}',
      '\0',
      '\xff',
    ]
    const answers = await answersTo(lines.map((line) => `${line}\n`))
    for (const answer of answers) {
      expect(answer).toEqual([{ jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } }])
    }
  })

  test('TM-085 JSON that is no request is an invalid one, its id echoed where it is usable', async () => {
    const cases = [
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', undefined],
      ['[]', undefined],
      ['"ping"', undefined],
      ['7', undefined],
      ['null', undefined],
      ['{}', undefined],
      ['{"id":7,"method":"ping"}', 7],
      ['{"jsonrpc":"1.0","id":"x","method":"ping"}', 'x'],
      ['{"jsonrpc":"2.0","id":3}', 3],
      ['{"jsonrpc":"2.0","id":4,"method":5}', 4],
      ['{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}', 5],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', undefined],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', undefined],
      ['{"jsonrpc":"2.0","id":1.5,"method":5}', undefined],
    ] as const
    const answers = await answersTo(cases.map(([line]) => `${line}\n`))
    expect(answers).toEqual(
      cases.map(([, id]) => [
        {
          jsonrpc: '2.0',
          ...(id !== undefined && { id }),
          error: { code: -32600, message: 'Invalid Request' },
        },
      ]),
    )
  })

  test('TM-005 TM-010 empty lines, carriage returns and a byte order mark do no harm', async () => {
    const answers = await answersTo([
      '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n',
      '\n',
      '\r\n',
      '   \n',
      '\t\n',
    ])
    expect(answers).toEqual([[{ jsonrpc: '2.0', id: 1, result: {} }], [], [], [], []])
  })

  test('a line of more than 10 MiB is refused in a sentence with its id, and the next one is answered', async () => {
    const padding = 'x'.repeat(11 * 1024 * 1024)
    const [first, second, third] = await answersTo([
      `{"jsonrpc":"2.0","id":41,"method":"ping","params":{"padding":"${padding}"}}\n`,
      `{"method":"ping","params":{"id":9,"padding":"${padding}"},"jsonrpc":"2.0","id":"at the end"}\n`,
      `${padding}\n`,
    ])
    expect(first).toEqual([
      {
        jsonrpc: '2.0',
        id: 41,
        error: {
          code: -32600,
          message: 'Invalid Request: the line has 11534401 bytes, and at most 10 MiB are read.',
        },
      },
    ])
    expect(second).toMatchObject([{ id: 'at the end', error: { code: -32600 } }])
    expect(third).toEqual([{ jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) }])
  })

  test('a line of several megabytes in many chunks is read', async () => {
    const text = 'ä'.repeat(2 * 1024 * 1024)
    const line = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"text":"${text}"}}}\n`
    expect(await answersTo([line])).toEqual([[{ jsonrpc: '2.0', id: 1, result: {} }]])
  })

  test('values nested a hundred thousand deep are refused as parameters', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const server = startServer()
    server.write(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log_milestone","arguments":{"task_id":"t-1","message":"m","metadata":{"deep":${deep}}}}}\n`,
    )
    expect((await server.message(({ id }) => id === 1)).error).toEqual({
      code: -32602,
      message: 'Invalid params: the message is nested more than 100 levels deep.',
    })
    expect((await server.ask('ping')).result).toEqual({})
  })
})

describe('a request that cannot be served is an error of the protocol', () => {
  test('TM-021 an unknown method', async () => {
    const { ask } = await legacy(startServer())
    expect((await ask('no/such')).error).toEqual({ code: -32601, message: 'Method not found' })
    expect((await ask('tools/lists')).error.code).toBe(-32601)
  })

  test('TM-086 an unknown tool', async () => {
    const { ask } = await legacy(startServer())
    const { error } = await ask('tools/call', { name: 'start_misson', arguments: {} })
    expect(error).toEqual({ code: -32602, message: 'Unknown tool: start_misson' })
  })

  test('TM-087 TM-034 arguments that are no object', async () => {
    const { ask } = await legacy(startServer())
    for (const given of [[], 'x', 7, null, true]) {
      const { error } = await ask('tools/call', { name: 'start_mission', arguments: given })
      expect(error).toEqual({
        code: -32602,
        message: `Invalid arguments: "arguments" must be an object of named fields, not ${JSON.stringify(given)}.`,
      })
    }
  })

  test('TM-087 absent arguments are an empty object', async () => {
    const { ask } = await legacy(startServer())
    expect((await ask('tools/call', { name: 'list_missions' })).result).toMatchObject({
      isError: false,
      structuredContent: { missions: [], total: 0 },
    })
  })

  test('a call without a name', async () => {
    const { ask } = await legacy(startServer())
    expect((await ask('tools/call', { arguments: {} })).error.code).toBe(-32602)
  })
})

describe('the line', () => {
  test('TM-010 a message may come in pieces that split a character', async () => {
    const server = startServer()
    await server.ask('initialize', handshake)
    const line = Buffer.from(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"start_mission","arguments":{"name":"Größe 😀","objective":"o"}}}\n',
    )
    for (const byte of line) {
      server.write(Buffer.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await server.message(({ id }) => id === 2)).result.isError).toBe(false)
    const listed = await server.ask('tools/call', { name: 'list_missions' })
    expect(listed.result.structuredContent.missions[0].name).toBe('Größe 😀')
  })

  test('TM-010 TM-012 several messages in one chunk get one line each', async () => {
    const lines = Array.from({ length: 50 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`)
    const [answers] = await answersTo([lines.join('')])
    expect(answers).toEqual(lines.map((_, id) => ({ jsonrpc: '2.0', id, result: {} })))
  })

  test('TM-077 what was asked is answered before the process ends with its input', async () => {
    const server = startServer()
    const calls = ['start_mission', 'list_missions'].map((name, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: name === 'start_mission' ? { name: 'n', objective: 'o' } : {} },
    }))
    // the last line without a newline
    server.write(
      [{ jsonrpc: '2.0', id: 'i', method: 'initialize', params: handshake }, ...calls]
        .map((call) => JSON.stringify(call))
        .join('\n'),
    )
    expect(await server.end()).toBe(0)
    expect(server.messages.map(({ id }) => id)).toEqual(['i', 0, 1])
    expect(server.messages[2].result.structuredContent.total).toBe(1)
  })

  test('TM-077 a process without a message ends with its input, and leaves nothing behind', async () => {
    const server = startServer()
    expect(await server.end()).toBe(0)
    expect(server.messages).toEqual([])
    expect(server.errors()).toBe('')
  })

  test('a client that stops reading ends the process quietly', async () => {
    const server = startServer({ entry: bin })
    await server.ask('initialize', handshake)
    server.process.stdout?.destroy()
    const gone = new Promise((resolve) => server.process.on('exit', resolve))
    const flood = setInterval(() => server.send({ jsonrpc: '2.0', id: 1, method: 'ping' }), 10)
    onTestFinished(() => clearInterval(flood))
    expect(await gone).toBe(0)
    expect(server.errors()).toBe('')
  })
})
