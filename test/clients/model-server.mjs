// A model on loopback that follows a script: the APIs of Anthropic, OpenAI (responses and chat) and Google as far as
// coding agents need them. Plain ESM, because it runs beside the client in a network namespace of their own.
import { createServer } from 'node:http'

/**
 * A step is `{ tool, input }`: `tool` is a regular expression for one of the tools that the client offers. The step is
 * chosen by how many results of tools the conversation holds; after the last one the model says it is done.
 */
export async function startModel(script, port = 0) {
  const seen = []
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const body = parsed(text)
      const api = apis.find(({ path }) => path.test(request.url ?? ''))
      if (api === undefined) {
        seen.push({ path: request.url, method: request.method })
        response
          .writeHead(404, { 'content-type': 'application/json' })
          .end('{"error":{"message":"no such path"}}')
        return
      }
      const tools = api.tools(body)
      const step = tools.length === 0 ? undefined : script[api.results(body)]
      const name = step && tools.find((tool) => new RegExp(step.tool).test(tool))
      const told = [...text.matchAll(/Waymark: [^"\\]+/g)].map(([sentence]) => sentence)
      seen.push({ path: request.url, tools, results: api.results(body), called: name ?? null, told })
      api.answer(response, { name, input: step?.input ?? {}, model: body.model ?? 'a-model', body })
    })
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, seen, close: () => server.close() }
}

const anthropic = {
  path: /\/v1\/messages(\?|$)/,
  tools: (body) => (body.tools ?? []).map(({ name }) => name),
  results: (body) =>
    (body.messages ?? [])
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === 'tool_result').length,
  answer(response, { name, input, model, body }) {
    const block = name ? { type: 'tool_use', id: callId(), name, input } : { type: 'text', text: 'Done.' }
    const usage = { input_tokens: 1200, output_tokens: 40, cache_read_input_tokens: 800 }
    const message = {
      id: `msg_${callId()}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason: name ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage,
    }
    if (!body.stream) return json(response, message)
    const send = eventStream(response)
    send({ type: 'message_start', message: { ...message, content: [], stop_reason: null } })
    send({
      type: 'content_block_start',
      index: 0,
      content_block: name ? { ...block, input: {} } : { type: 'text', text: '' },
    })
    const delta = name
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: 'Done.' }
    send({ type: 'content_block_delta', index: 0, delta })
    send({ type: 'content_block_stop', index: 0 })
    send({ type: 'message_delta', delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage })
    send({ type: 'message_stop' })
    response.end()
  },
}

const tokens = {
  path: /\/v1\/messages\/count_tokens/,
  tools: () => [],
  results: () => 0,
  answer: (response) => json(response, { input_tokens: 1200 }),
}

const responses = {
  path: /\/responses(\?|$)/,
  tools: (body) =>
    (body.tools ?? []).flatMap(({ type, name, tools }) =>
      type === 'namespace' ? tools.map((tool) => `${name}${tool.name}`) : name ? [name] : [],
    ),
  results: (body) => (body.input ?? []).filter(({ type }) => type?.endsWith('_call_output')).length,
  answer(response, { name, input, model, body }) {
    const id = `resp_${callId()}`
    const space = (body.tools ?? []).find((tool) => tool.type === 'namespace' && name?.startsWith(tool.name))
    const custom = (body.tools ?? []).find((tool) => tool.type === 'custom' && tool.name === name)
    const item = custom
      ? { type: 'custom_tool_call', id: `ctc_${callId()}`, call_id: callId(), name, input: input.input }
      : name
        ? {
            type: 'function_call',
            id: `fc_${callId()}`,
            call_id: callId(),
            ...(space && { namespace: space.name }),
            name: space ? name.slice(space.name.length) : name,
            arguments: JSON.stringify(input),
          }
        : {
            type: 'message',
            id: `msg_${callId()}`,
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
          }
    const usage = {
      input_tokens: 1200,
      input_tokens_details: { cached_tokens: 800 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1240,
    }
    const send = eventStream(response)
    const whole = { id, object: 'response', model, status: 'completed', output: [item], usage }
    send({ type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } })
    send({ type: 'response.output_item.added', output_index: 0, item })
    send({ type: 'response.output_item.done', output_index: 0, item })
    send({ type: 'response.completed', response: whole })
    response.end()
  },
}

const chat = {
  path: /\/chat\/completions(\?|$)/,
  tools: (body) => (body.tools ?? []).flatMap((tool) => tool.function?.name ?? []),
  results: (body) => (body.messages ?? []).filter(({ role }) => role === 'tool').length,
  answer(response, { name, input, model, body }) {
    const call = { id: callId(), type: 'function', function: { name, arguments: JSON.stringify(input) } }
    const message = name
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: 'Done.' }
    const usage = {
      prompt_tokens: 1200,
      completion_tokens: 40,
      total_tokens: 1240,
      prompt_tokens_details: { cached_tokens: 800 },
    }
    const base = { id: `chatcmpl-${callId()}`, created: Math.floor(Date.now() / 1000), model }
    const finish_reason = name ? 'tool_calls' : 'stop'
    if (!body.stream)
      return json(response, {
        ...base,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      })
    const send = eventStream(response)
    const delta = name ? { role: 'assistant', tool_calls: [{ index: 0, ...call }] } : message
    send({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })
    send({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: {}, finish_reason }],
      usage,
    })
    response.end('data: [DONE]\n\n')
  },
}

const gemini = {
  path: /:(streamGenerateContent|generateContent)/,
  tools: (body) =>
    (body.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => name),
    ),
  results: (body) =>
    (body.contents ?? [])
      .flatMap(({ parts = [] }) => parts)
      .filter(({ functionResponse }) => functionResponse).length,
  answer(response, { name, input }) {
    const parts = name ? [{ functionCall: { name, args: input } }] : [{ text: 'Done.' }]
    const whole = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 40, totalTokenCount: 1240 },
    }
    if (!/stream/.test(response.req.url)) return json(response, whole)
    eventStream(response)(whole)
    response.end()
  },
}

const models = {
  path: /\/models(\?|$)/,
  tools: () => [],
  results: () => 0,
  answer: (response) =>
    json(response, { object: 'list', data: [{ id: 'a-model', object: 'model', owned_by: 'test' }] }),
}

const apis = [tokens, anthropic, responses, chat, gemini, models]

let calls = 0
function callId() {
  calls += 1
  return `call_${String(calls).padStart(12, '0')}`
}

function json(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function eventStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  return (event) =>
    response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
